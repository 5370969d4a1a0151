import { createPublicKey, verify } from 'node:crypto'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Call, Signature, UnsignedTransaction } from '../../facets/payments.ts'
import { ValueProblem } from '../../invalid-value.ts'
import type { Network } from '../../networks/index.ts'
import { addressOfKey } from '../encoding/addresses.ts'
import { assetTransfer, coinTransfer, encodeFunction, paymentOf } from '../encoding/functions.ts'
import { hashOfSigned, signedMessage } from '../encoding/hashes.ts'
import {
  type CalledFunction,
  encoded,
  entryFunctionLayout,
  rawTransactionLayout,
  readExactly,
  signedTransactionLayout,
} from '../encoding/layout.ts'

const amountMax = 2n ** 64n - 1n

/** The call that moves an asset, or the native coin when `token` is absent. Its data is the function that is called, in BCS. */
export function paymentCall(to: Address, amountAtomic: bigint, token?: Address): Call {
  if (amountAtomic < 0n || amountAtomic > amountMax)
    throw new ValueProblem('amount', `must be at most ${amountMax} base units, as every amount of this chain`)
  if (token === undefined) return { to, valueAtomic: amountAtomic, data: '0x' }
  return { to: token, valueAtomic: 0n, data: hexOf(encodeFunction(assetTransfer(token, to, amountAtomic))) }
}

/** The function that a call is of; throws for what no node would execute. */
export function functionOfCall({ to, valueAtomic, data }: Call): CalledFunction {
  if (to === undefined) throw new ValueProblem('to', 'is missing: contracts are not created by a call here')
  if (data === '0x') return coinTransfer(to, valueAtomic)
  if (valueAtomic !== 0n)
    throw new ValueProblem('value', 'must be 0: a function takes coins by its arguments')
  const called = readExactly(entryFunctionLayout, bytesOf(data))
  if (called) return called
  throw new ValueProblem('data', 'must be the BCS of an entry function, and nothing behind it')
}

/** The call that a function is of. A payment of coins to one address carries no data, as on any chain. */
function callOfFunction(called: CalledFunction): Call {
  const payment = paymentOf(called)
  const [first] = payment?.recipients ?? []
  if (first && encodeFunction(coinTransfer(first.to, first.amountAtomic)).equals(encodeFunction(called)))
    return { to: first.to, valueAtomic: first.amountAtomic, data: '0x' }
  const isTransfer = called.module.name === 'primary_fungible_store'
  const to = payment && isTransfer ? payment.asset : called.module.address
  return { to, valueAtomic: 0n, data: hexOf(encodeFunction(called)) }
}

/** Whole seconds of the chain's clock from which a transaction cannot be executed. */
const expirationOf = ({ expiresMs }: Pick<UnsignedTransaction, 'expiresMs'>): bigint => {
  if (expiresMs === undefined || expiresMs % 1_000 !== 0)
    throw new Error('a transaction of this chain has an expiry, in whole seconds')
  return BigInt(expiresMs / 1_000)
}

export function rawTransaction({ chainId }: Network, transaction: UnsignedTransaction): Buffer {
  const { from, nonce, gasLimit, maxFeeAtomic } = transaction
  return encoded(rawTransactionLayout, {
    sender: from,
    sequenceNumber: BigInt(nonce),
    payload: { entryFunction: functionOfCall(transaction) },
    maxGasAmount: gasLimit,
    gasUnitPrice: maxFeeAtomic,
    expirationSeconds: expirationOf(transaction),
    chainId,
  })
}

/** The message that the key of the sender signs. */
export const signingMessageOf = (network: Network, transaction: UnsignedTransaction): Buffer =>
  signedMessage('transaction', rawTransaction(network, transaction))

const keyBytes = 32

/** The start of an Ed25519 public key in DER. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex')

function isSignature(message: Buffer, publicKey: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({ key: Buffer.concat([derPrefix, publicKey]), format: 'der', type: 'spki' })
  return verify(null, message, key, signature)
}

/**
 * The parts of a signature. An address does not tell its key, so that a signature here is both: 32 bytes of the public key, and 64
 * that it signed. Throws where they are not of the signer and this message.
 */
export function partsOfSignature(
  given: Signature,
  signer: Address,
  message: Buffer,
): { publicKey: Buffer; signature: Buffer } {
  const [publicKey, signature] = [given.subarray(0, keyBytes), given.subarray(keyBytes)]
  if (signature.length !== 64 || addressOfKey(publicKey) !== signer)
    throw new Error(`the signature is not one of ${signer}`)
  if (!isSignature(message, publicKey, signature))
    throw new Error(`the signature of ${signer} is of another transaction`)
  return { publicKey, signature }
}

export function withSignature(
  network: Network,
  transaction: UnsignedTransaction,
  signature: Signature,
): { raw: Hex; hash: Hex } {
  const raw = rawTransaction(network, transaction)
  const ed25519 = partsOfSignature(signature, transaction.from, signedMessage('transaction', raw))
  const signed = encoded(signedTransactionLayout, {
    raw: rawTransactionLayout.parse(raw),
    authenticator: { ed25519 },
  })
  return { raw: hexOf(signed), hash: hashOfSigned(signed) }
}

/** Reads what one Ed25519 key signed for this network; `undefined` for anything else. Never throws. */
export function readSignedPayment(network: Network, raw: Hex): UnsignedTransaction | undefined {
  const read = readExactly(signedTransactionLayout, bytesOf(raw))
  if (!read) return undefined
  const { sender, sequenceNumber, payload, chainId, ...terms } = read.raw
  const { ed25519 } = read.authenticator
  const { entryFunction } = payload
  if (!ed25519 || !entryFunction || chainId !== network.chainId) return undefined
  if (sequenceNumber > Number.MAX_SAFE_INTEGER || terms.expirationSeconds > expirySecondsMax) return undefined
  const transaction: UnsignedTransaction = {
    from: sender,
    ...callOfFunction(entryFunction),
    nonce: Number(sequenceNumber),
    gasLimit: terms.maxGasAmount,
    maxFeeAtomic: terms.gasUnitPrice,
    priorityFeeAtomic: terms.gasUnitPrice,
    expiresMs: Number(terms.expirationSeconds) * 1_000,
  }
  const { publicKey, signature } = ed25519
  const isOwn =
    publicKey.length === keyBytes &&
    addressOfKey(publicKey) === sender &&
    isSignature(signingMessageOf(network, transaction), publicKey, signature)
  return isOwn ? transaction : undefined
}

/** The last second whose milliseconds are a whole number of JavaScript. */
const expirySecondsMax = BigInt(Math.floor(Number.MAX_SAFE_INTEGER / 1_000))

/**
 * The same transaction at a higher price: what pools take in the place of one that waits. Payload, limit and expiry stay, since
 * a pool refuses any other change, and since proof that one of them is dead is proof for all.
 */
export const dearer = (
  transaction: UnsignedTransaction,
  { maxFeeAtomic }: { maxFeeAtomic: bigint },
): UnsignedTransaction => ({ ...transaction, maxFeeAtomic, priorityFeeAtomic: maxFeeAtomic })
