import { sha3_256 } from '@noble/hashes/sha3'
import { type Hex, hexOf } from '#lib/hex'

/** The hash that begins whatever is signed or hashed of a type, so that no bytes of one type pass as another. */
const prefixOf = (type: string): Uint8Array => sha3_256(`APTOS::${type}`)

const prefixes = {
  transaction: prefixOf('RawTransaction'),
  /** Of transactions that more than the sender signs. */
  shared: prefixOf('RawTransactionWithData'),
  committed: prefixOf('Transaction'),
}

export const signedMessage = (kind: 'transaction' | 'shared', bytes: Uint8Array): Buffer =>
  Buffer.concat([prefixes[kind], bytes])

/** The number of user transactions among the kinds of transactions of a ledger. */
const userTransaction = Buffer.of(0)

/** The hash of a signed transaction: it covers the signature. */
export const hashOfSigned = (signed: Uint8Array): Hex =>
  hexOf(sha3_256(Buffer.concat([prefixes.committed, userTransaction, signed])))

/** Ends of what addresses are hashes of. */
const schemes = { ed25519: 0x00, primaryStore: 0xfc }

/** The address of the account that one Ed25519 key controls, as long as that account has not got another key. */
export const addressBytesOfKey = (publicKey: Uint8Array): Uint8Array =>
  sha3_256(Buffer.concat([publicKey, Buffer.of(schemes.ed25519)]))

/** The address of the store in which an account holds an asset by default. */
export const primaryStoreBytes = (owner: Uint8Array, asset: Uint8Array): Uint8Array =>
  sha3_256(Buffer.concat([owner, asset, Buffer.of(schemes.primaryStore)]))
