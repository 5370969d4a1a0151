/** Hierarchical keys on secp256k1 (BIP-32). */
import { createHmac } from 'node:crypto'
import type { Signer } from '../signers/signer.ts'

/** The number that is added to the index of a hardened child, which only the private key of its parent can derive. */
export const hardened = 0x8000_0000

/** A key pair with the chain code that its children are derived with. The public key has 65 bytes. */
type ExtendedKey = { privateKey: Buffer; publicKey: Buffer; chainCode: Buffer }

/** Splits a digest: its left half is the private key, to which a child adds that of its parent. */
function extendedKeyOf(signer: Signer, digest: Buffer, parent?: ExtendedKey): ExtendedKey {
  const privateKey = digest.subarray(0, 32)
  // One sum in 2^127 is no private key: its index cannot be used.
  if (parent) signer.addToPrivateKey(privateKey, parent.privateKey)
  return { privateKey, publicKey: signer.publicKeyOf(privateKey), chainCode: digest.subarray(32) }
}

function childOf(signer: Signer, parent: ExtendedKey, index: number): ExtendedKey {
  const input = Buffer.alloc(37)
  if (index >= hardened) parent.privateKey.copy(input, 1)
  else compress(parent.publicKey).copy(input)
  input.writeUInt32BE(index, 33)
  const digest = createHmac('sha512', parent.chainCode).update(input).digest()
  input.fill(0)
  return extendedKeyOf(signer, digest, parent)
}

/** The 33 bytes of a public key of 65. */
const compress = (publicKey: Buffer): Buffer =>
  Buffer.concat([Buffer.of(2 + (publicKey[64]! & 1)), publicKey.subarray(1, 33)])

function wipe({ privateKey, chainCode }: ExtendedKey): void {
  privateKey.fill(0)
  chainCode.fill(0)
}

type ChildKey = { index: number; privateKey: Buffer; publicKey: Buffer }

/** Derives the children at `indexes` of the key at `path`. It yields to the event loop now and then; the caller wipes the private keys. */
export async function deriveChildren(
  signer: Signer,
  seed: Buffer,
  path: readonly number[],
  indexes: readonly number[],
): Promise<ChildKey[]> {
  const parent = keyAt(signer, seed, path)
  const children: ChildKey[] = []
  for (const [turn, index] of indexes.entries()) {
    if (turn % 64 === 63) await new Promise((resume) => setImmediate(resume))
    const { privateKey, publicKey, chainCode } = childOf(signer, parent, index)
    chainCode.fill(0)
    children.push({ index, privateKey, publicKey })
  }
  wipe(parent)
  return children
}

function keyAt(signer: Signer, seed: Buffer, path: readonly number[]): ExtendedKey {
  let key = extendedKeyOf(signer, createHmac('sha512', 'Bitcoin seed').update(seed).digest())
  for (const index of path) {
    const child = childOf(signer, key, index)
    wipe(key)
    key = child
  }
  return key
}
