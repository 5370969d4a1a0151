/** Transactions and delegate actions that the caller sends. A key signs the hash of their borsh encoding. */
import { createHash } from 'node:crypto'
import { encodeBase58 } from '../addresses/base-encodings.ts'
import { bytesOfBase64, readerOf, Unreadable } from '../binary-reader.ts'
import type { Signature } from '../facets/payments.ts'
import { TransactionProblem, type WalletAccount, type WalletSigning } from '../facets/signing.ts'
import {
  type NearPublicKey,
  readAccountId,
  readActions,
  readDelegateAction,
  readPublicKey,
} from './actions.ts'
import { effectsOfActions } from './effects.ts'

const hashOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** Maximum of a transaction that the protocol takes. */
const bytesMax = 1_572_864

/** The number of the curve before keys and signatures of Ed25519. */
const ed25519 = Buffer.of(0)

/** The number before a delegate action that is signed (NEP-461, NEP-366), so that its signature is that of no transaction. */
const delegatePrefix = Buffer.from('6e010040', 'hex')

/** Reads the bytes of base64 to their end. Throws `TransactionProblem`. */
function readWhole<Read>(location: string, text: string, read: (bytes: Buffer) => Read): Read {
  if (text.length > bytesMax * 1.4)
    throw new TransactionProblem('tooLarge', location, `is longer than ${bytesMax} bytes`)
  const bytes = bytesOfBase64(text)
  if (!bytes || bytes.length === 0) throw new TransactionProblem('unreadable', location, 'must be base64')
  try {
    return read(bytes)
  } catch (error) {
    if (error instanceof Unreadable) throw new TransactionProblem('unreadable', location, error.message)
    throw error
  }
}

const implicitAccount = /^[0-9a-f]{64}$/

/** Requires the key of the account, and where the signer is an implicit account, the account itself. A named one may have the key. */
function requireSignedBy(
  location: string,
  { address }: WalletAccount,
  { signer, publicKey }: { signer: string; publicKey: NearPublicKey },
): void {
  const own = Buffer.concat([ed25519, Buffer.from(address, 'hex')])
  if (!publicKey.equals(own))
    throw new TransactionProblem(
      'ofOtherSigner',
      location,
      'is for another key than that of the wallet: set its publicKey to the initialPublicKey of the wallet',
    )
  if (implicitAccount.test(signer) && signer !== address)
    throw new TransactionProblem('ofOtherSigner', location, 'is for another account than the wallet', signer)
}

const attach = (bytes: Buffer, signature: Signature): string =>
  Buffer.concat([bytes, ed25519, signature]).toString('base64')

export const nearSigning: WalletSigning = {
  transaction: ({ rawTransaction, transaction }, account) => {
    if (rawTransaction === undefined || transaction !== undefined)
      throw new TransactionProblem(
        'invalid',
        'transaction',
        'is the form of EVM wallets: send rawTransaction, the borsh encoding as base64',
      )
    return readWhole('rawTransaction', rawTransaction, (bytes) => {
      const reader = readerOf(bytes)
      const signer = readAccountId(reader)
      const publicKey = readPublicKey(reader)
      const nonce = reader.u64()
      const receiver = readAccountId(reader)
      reader.take(32)
      const actions = readActions(reader, 'transaction')
      reader.end()
      requireSignedBy('rawTransaction', account, { signer, publicKey })
      const payload = hashOf(bytes)
      return {
        payload,
        effects: effectsOfActions(account.blockchain, receiver, actions),
        blockchain: account.blockchain,
        lines: [
          ['from', 'From', signer],
          ['to', 'To', receiver],
          ['actions', 'Actions', actions.map(({ kind }) => kind).join(', ')],
          ['nonce', 'Nonce', String(nonce)],
        ],
        answerOf: (signature) => ({
          signature: encodeBase58(signature),
          signedTransaction: attach(bytes, signature),
          txHash: encodeBase58(payload),
        }),
      }
    })
  },
  delegateAction: (text, account) =>
    readWhole('unsignedDelegateAction', text, (given) => {
      // Encoders write the prefix, or leave it to the signer.
      const bytes = given.subarray(0, 4).equals(delegatePrefix) ? given.subarray(4) : given
      const reader = readerOf(bytes)
      const { sender, receiver, actions, publicKey } = readDelegateAction(reader)
      reader.end()
      requireSignedBy('unsignedDelegateAction', account, { signer: sender, publicKey })
      return {
        payload: hashOf(Buffer.concat([delegatePrefix, bytes])),
        effects: effectsOfActions(account.blockchain, receiver, actions),
        answerOf: (signature) => ({
          signature: encodeBase58(signature),
          signedDelegateAction: attach(bytes, signature),
        }),
      }
    }),
}
