/** An implementation of secp256k1. All give byte-identical signatures (RFC 6979, low `s`), so one can replace another. */
export type Signer = {
  /** Signs a digest of 32 bytes. The signature has 65: r, s in the lower half of the order, and the recovery id, 0 or 1. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Buffer
  /** The public key as 65 bytes, uncompressed. */
  publicKeyOf(privateKey: Uint8Array): Buffer
  /** Adds `addend` to the private key, in place and modulo the order of the curve; throws if the sum is no key. */
  addToPrivateKey(privateKey: Uint8Array, addend: Uint8Array): void
}

/** Appends the recovery id to a signature of 64 bytes; it is 0 or 1 because `r` never exceeds the order in practice. */
export function signatureOf(compact: Uint8Array, recovery: number): Buffer {
  if (compact.length !== 64 || (recovery !== 0 && recovery !== 1))
    throw new Error('the signer gave a signature of an unknown form')
  return Buffer.concat([compact, Buffer.of(recovery)])
}
