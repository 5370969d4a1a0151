import { isSignedByEd25519 } from '#lib/ed25519'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Signature, UnsignedTransaction } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { addressOfKey } from '../encoding/addresses.ts'
import { hashOfSigned, signedMessage } from '../encoding/hashes.ts'
import {
  encoded,
  rawTransactionLayout,
  readExactly,
  sharedTransactionLayout,
  signedTransactionLayout,
} from '../encoding/layout.ts'
import { callOfFunction, rawTransaction } from './build.ts'

/** The message that the key of the sender signs. With a fee payer, both sign the same one, which names the payer. */
export function signingMessageOf(network: Network, transaction: UnsignedTransaction): Buffer {
  const { feePayer } = transaction
  const bytes = rawTransaction(network, transaction)
  if (feePayer === undefined) return signedMessage('transaction', bytes)
  const shared = { raw: rawTransactionLayout.parse(bytes), secondaryAddresses: [], feePayer }
  return signedMessage('shared', encoded(sharedTransactionLayout, { feePayer: shared }))
}

const keyBytes = 32

type Ed25519Parts = { publicKey: Buffer; signature: Buffer }

/** Whether the key of an address signed the message. */
function isSignedBy(address: Address, message: Buffer, { publicKey, signature }: Ed25519Parts): boolean {
  if (publicKey.length !== keyBytes || addressOfKey(publicKey) !== address) return false
  return isSignedByEd25519(publicKey, message, signature)
}

/**
 * The parts of a signature. An address does not tell its key, so that a signature here is both: 32 bytes of the public key, and 64
 * that it signed. Throws where they are not of the signer and this message.
 */
function partsOfSignature(given: Signature, signer: Address, message: Buffer): Ed25519Parts {
  const [publicKey, signature] = [given.subarray(0, keyBytes), given.subarray(keyBytes)]
  if (signature.length !== 64 || addressOfKey(publicKey) !== signer)
    throw new Error(`the signature is not one of ${signer}`)
  const parts = { publicKey, signature }
  if (!isSignedBy(signer, message, parts))
    throw new Error(`the signature of ${signer} is of another transaction`)
  return parts
}

/** The signed transaction. Throws where a signature is missing, or not of its signer. */
export function withSignatures(
  network: Network,
  transaction: UnsignedTransaction,
  { sender, feePayer }: { sender: Signature; feePayer?: Signature | undefined },
): { raw: Hex; hash: Hex } {
  const message = signingMessageOf(network, transaction)
  const ed25519 = partsOfSignature(sender, transaction.from, message)
  const signed = encoded(signedTransactionLayout, {
    raw: rawTransactionLayout.parse(rawTransaction(network, transaction)),
    authenticator:
      transaction.feePayer === undefined
        ? { ed25519 }
        : { feePayer: sharedAuthenticator({ ed25519 }, transaction.feePayer, feePayer, message) },
  })
  return { raw: hexOf(signed), hash: hashOfSigned(signed) }
}

function sharedAuthenticator(
  sender: { ed25519: Ed25519Parts },
  feePayer: Address,
  signature: Signature | undefined,
  message: Buffer,
) {
  if (!signature) throw new Error(`the signature of ${feePayer}, which pays the fee, is missing`)
  const feePayerSigner = { ed25519: partsOfSignature(signature, feePayer, message) }
  return { sender, secondaryAddresses: [], secondarySigners: [], feePayer, feePayerSigner }
}

/** Reads what Ed25519 keys signed for this network; `undefined` for anything else. Never throws. */
export function readSignedPayment(network: Network, raw: Hex): UnsignedTransaction | undefined {
  const read = readExactly(signedTransactionLayout, bytesOf(raw))
  if (!read) return undefined
  const { sender, sequenceNumber, payload, chainId, ...terms } = read.raw
  const { entryFunction } = payload
  const signers = signersOf(read.authenticator)
  if (!signers || !entryFunction || chainId !== network.chainId) return undefined
  if (sequenceNumber > Number.MAX_SAFE_INTEGER || terms.expirationSeconds > expirySecondsMax) return undefined
  const { feePayer } = signers
  const transaction: UnsignedTransaction = {
    from: sender,
    ...callOfFunction(entryFunction),
    nonce: Number(sequenceNumber),
    gasLimit: terms.maxGasAmount,
    maxFeeAtomic: terms.gasUnitPrice,
    priorityFeeAtomic: terms.gasUnitPrice,
    expiresMs: Number(terms.expirationSeconds) * 1_000,
    ...(feePayer && { feePayer: feePayer.address }),
  }
  const message = signingMessageOf(network, transaction)
  const areOwn =
    isSignedBy(sender, message, signers.sender) &&
    (!feePayer || isSignedBy(feePayer.address, message, feePayer.parts))
  return areOwn ? transaction : undefined
}

type Authenticator = ReturnType<typeof signedTransactionLayout.parse>['authenticator']
type Signers = { sender: Ed25519Parts; feePayer?: { address: Address; parts: Ed25519Parts } }

/** The one key of the sender, and that of the account that pays; `undefined` where there are other signers. */
function signersOf({ ed25519, feePayer: shared }: Authenticator): Signers | undefined {
  if (ed25519) return { sender: ed25519 }
  const [sender, parts] = [shared?.sender.ed25519, shared?.feePayerSigner.ed25519]
  if (!shared || !sender || !parts || shared.secondarySigners.length > 0) return undefined
  return { sender, feePayer: { address: shared.feePayer, parts } }
}

/** The last second whose milliseconds are a whole number of JavaScript. */
const expirySecondsMax = BigInt(Math.floor(Number.MAX_SAFE_INTEGER / 1_000))
