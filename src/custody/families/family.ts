import type { Signer } from '../signers/signer.ts'

/** A key that was derived from a seed, with its address as the family writes it. */
export type DerivedKey = {
  index: number
  privateKey: Buffer
  address: string
  /** The public key as wallets show it; absent where they show the address alone. */
  publicKey?: string | undefined
}

/** Derives the keys of a family, writes their addresses, and signs with them. */
export type Family = {
  /** Derives the keys of a seed (BIP-39, 64 bytes) at `indexes`; the caller wipes the private keys. */
  derive(signer: Signer, seed: Buffer, indexes: readonly number[]): Promise<DerivedKey[]>
  /** The canonical address of a private key. */
  addressOf(signer: Signer, privateKey: Uint8Array): string
  /** Signs a payload: a digest of 32 bytes on secp256k1, a message of any length on Ed25519. */
  sign(signer: Signer, payload: Buffer, privateKey: Buffer): Buffer
  /** Returns the 32 bytes that identify a payload in the signing ledger: the digest itself, or the hash of a message. */
  digestOf(payload: Buffer): Buffer
}
