import { type Signer, signatureOf } from './signer.ts'

/** Plain JavaScript: slow, but it runs wherever Node runs. */
export async function pureSigner(): Promise<Signer> {
  const { secp256k1 } = await import('@noble/curves/secp256k1')
  return {
    name: 'pure',
    sign: (digest, privateKey) => {
      const signature = secp256k1.sign(digest, privateKey, { lowS: true, prehash: false })
      return signatureOf(signature.toCompactRawBytes(), signature.recovery)
    },
    publicKeyOf: (privateKey) => Buffer.from(secp256k1.getPublicKey(privateKey, false)),
  }
}
