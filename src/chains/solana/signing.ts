/** Messages and transactions that the caller sends. A key signs their bytes as they are. */
import { encodeBase58 } from '../addresses/base-encodings.ts'
import { bytesOfBase64, Unreadable } from '../binary-reader.ts'
import { messageEffects } from '../facets/message-effects.ts'
import { TransactionProblem, type WalletAccount, type WalletSigning } from '../facets/signing.ts'
import { ValueProblem } from '../invalid-value.ts'
import { effectsOfMessage } from './effects.ts'
import {
  readMessage,
  readWireTransaction,
  type SolanaTransaction,
  transactionBytesMax,
  wireTransaction,
} from './transaction.ts'

/** Whether bytes would be a transaction with the signature of this account. */
function isTransactionOf(bytes: Buffer, { address }: WalletAccount): boolean {
  try {
    return readMessage(bytes).signers.includes(address)
  } catch (error) {
    if (error instanceof Unreadable) return false
    throw error
  }
}

function read(text: string): SolanaTransaction {
  const problem = (fault: 'unreadable' | 'tooLarge', reason: string) =>
    new TransactionProblem(fault, 'rawTransaction', reason)
  if (text.length > 2 * transactionBytesMax)
    throw problem('tooLarge', `is longer than ${transactionBytesMax} bytes`)
  const bytes = bytesOfBase64(text)
  if (!bytes || bytes.length === 0) throw problem('unreadable', 'must be base64')
  if (bytes.length > transactionBytesMax)
    throw problem('tooLarge', `is longer than ${transactionBytesMax} bytes`)
  try {
    return readWireTransaction(bytes)
  } catch (error) {
    if (error instanceof Unreadable) throw problem('unreadable', error.message)
    throw error
  }
}

export const solanaSigning: WalletSigning = {
  message: (bytes, account) => {
    if (isTransactionOf(bytes, account))
      throw new ValueProblem(
        'message',
        'is a transaction of the wallet: sign it with POST /v1/w3s/developer/sign/transaction',
      )
    return {
      payload: bytes,
      effects: messageEffects(bytes),
      answerOf: (signature) => signature.toString('hex'),
    }
  },
  transaction: ({ rawTransaction, transaction }, account) => {
    if (rawTransaction === undefined || transaction !== undefined)
      throw new TransactionProblem(
        'invalid',
        'transaction',
        'is the form of EVM wallets: send rawTransaction, the wire encoding as base64',
      )
    const { signatures, message, messageBytes } = read(rawTransaction)
    const place = message.signers.indexOf(account.address)
    if (place < 0)
      throw new TransactionProblem(
        'ofOtherSigner',
        'rawTransaction',
        `needs no signature of the wallet: its signers are ${message.signers.join(', ')}`,
      )
    if (signatures[place]!.some((byte) => byte !== 0))
      throw new TransactionProblem(
        'signedBefore',
        'rawTransaction',
        'carries a signature of the wallet already: send it without',
      )
    return {
      payload: messageBytes,
      effects: effectsOfMessage(account.blockchain, account.address, message),
      blockchain: account.blockchain,
      lines: [
        ['feePayer', 'Pays the fee', message.signers[0]],
        ['programs', 'Programs', programsOf(message)],
        ['blockhash', 'Valid after block', message.blockhash],
      ],
      answerOf: (signature) => ({
        signature: encodeBase58(signature),
        signedTransaction: wireTransaction(
          signatures.map((other, index) => (index === place ? signature : other)),
          messageBytes,
        ).toString('base64'),
      }),
    }
  },
}

const programsOf = ({ instructions }: SolanaTransaction['message']): string =>
  [...new Set(instructions.map(({ program }) => program))].join(', ')
