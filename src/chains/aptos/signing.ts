/** Messages, of which a key signs the bytes as they are. */
import { createHash } from 'node:crypto'
import { hexOf } from '#lib/hex'
import { messageEffects } from '../facets/message-effects.ts'
import type { WalletSigning } from '../facets/signing.ts'
import { ValueProblem } from '../invalid-value.ts'

/** Hashes with which the signed bytes of a transaction begin: of one signer, and of several. */
const transactionHeads = ['APTOS::RawTransaction', 'APTOS::RawTransactionWithData'].map((name) =>
  createHash('sha3-256').update(name).digest(),
)

/** The module 0x1::account, with which proofs begin that give the control of an account to another key. */
const accountModule = Buffer.concat([Buffer.alloc(31), Buffer.of(1, 7), Buffer.from('account')])

const isMoreThanMessage = (bytes: Buffer): boolean =>
  [...transactionHeads, accountModule].some((head) => bytes.subarray(0, head.length).equals(head))

const keyBytes = 32

export const aptosSigning: WalletSigning = {
  message: (bytes) => {
    if (isMoreThanMessage(bytes))
      throw new ValueProblem(
        'message',
        'is a transaction or a change of keys, which is not signed as a message: send text',
      )
    return {
      payload: bytes,
      effects: messageEffects(bytes),
      // The public key precedes the 64 bytes that it signed.
      answerOf: (signature) => hexOf(signature.subarray(keyBytes)),
    }
  },
}
