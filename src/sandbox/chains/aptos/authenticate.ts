import { isSignedByEd25519 } from '#lib/ed25519'
import type { Hex } from '#lib/hex'
import { hexOf } from '#lib/hex'
import { addressBytes, sha3, zeroAccount } from './addresses.ts'
import type { ReadTransaction, TransactionSigner } from './codec.ts'
import { refused } from './errors.ts'

const prefixOf = (type: string) => sha3(Buffer.from(`APTOS::${type}`))
const rawPrefix = prefixOf('RawTransaction')
const withDataPrefix = prefixOf('RawTransactionWithData')
const transactionPrefix = prefixOf('Transaction')

export const transactionHash = (bytes: Buffer): Hex => hexOf(sha3(transactionPrefix, Buffer.from([0]), bytes))

/** Throws unless each signer signed the message that the transaction wants of it. */
export function checkSignatures(transaction: ReadTransaction): void {
  const { signer, feePayer } = transaction
  if (!feePayer) {
    requireSignature(signer, [messageOf(transaction)])
    return
  }
  // A sender may sign before it is known which account pays: the payer is 0x0 in its message.
  requireSignature(signer, [
    feePayerMessage(transaction, feePayer.address),
    feePayerMessage(transaction, zeroAccount),
  ])
  requireSignature(feePayer.signer, [feePayerMessage(transaction, feePayer.address)])
}

/** Whether a signer of the transaction signed it, which simulations refuse: their bytes could be sent. */
export function isSigned(transaction: ReadTransaction): boolean {
  const { signer, feePayer } = transaction
  if (!feePayer) return hasSigned(signer, messageOf(transaction))
  const message = feePayerMessage(transaction, feePayer.address)
  return hasSigned(signer, message) || hasSigned(feePayer.signer, message)
}

/** The authentication key of a signer, which is the address of an account whose key was never changed. */
export function authenticationKey(signer: TransactionSigner): Hex | undefined {
  if (signer.scheme === 'none') return undefined
  return signer.scheme === 'ed25519'
    ? hexOf(sha3(signer.publicKey, Buffer.from([0])))
    : hexOf(sha3(Buffer.from([0, 32]), signer.publicKey, Buffer.from([2])))
}

const messageOf = ({ rawBytes }: ReadTransaction) => Buffer.concat([rawPrefix, rawBytes])

/** The message of both signers: the variant 1, the transaction, no further signers, and the address of the payer. */
const feePayerMessage = ({ rawBytes }: ReadTransaction, payer: string) =>
  Buffer.concat([withDataPrefix, Buffer.from([1]), rawBytes, Buffer.from([0]), addressBytes(payer)])

function requireSignature(signer: TransactionSigner, messages: readonly Buffer[]): void {
  if (!messages.some((message) => hasSigned(signer, message))) throw refused('INVALID_SIGNATURE')
}

const hasSigned = (signer: TransactionSigner, message: Buffer): boolean =>
  signer.scheme !== 'none' && isSignedByEd25519(signer.publicKey, message, signer.signature)
