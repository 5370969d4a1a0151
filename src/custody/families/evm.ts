import { keccak_256 } from '@noble/hashes/sha3'
import { deriveChildren, hardened } from './bip32.ts'
import { requireDigest } from './digest.ts'
import type { Family } from './family.ts'

/** m/44'/60'/0'/0, the external chain of the first account: an address index is appended to it (BIP-44, coin type 60). */
const accountPath = [44 + hardened, 60 + hardened, hardened, 0]

/** Keys on secp256k1, which sign digests; an address is lower-case hex. */
export const evm: Family = {
  derive: async (signer, seed, indexes) =>
    (await deriveChildren(signer, seed, accountPath, indexes)).map(({ index, privateKey, publicKey }) => ({
      index,
      privateKey,
      address: addressOfPublicKey(publicKey),
    })),
  addressOf: (signer, privateKey) => addressOfPublicKey(signer.publicKeyOf(privateKey)),
  sign: (signer, payload, privateKey) => signer.sign(requireDigest(payload), privateKey),
  digestOf: requireDigest,
}

/** The last 20 bytes of the hash of a public key of 65 bytes, without its first. */
function addressOfPublicKey(publicKey: Buffer): string {
  const hash = keccak_256(publicKey.subarray(1))
  return `0x${Buffer.from(hash.subarray(12)).toString('hex')}`
}
