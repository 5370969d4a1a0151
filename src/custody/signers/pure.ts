import { type Signer, signatureOf } from './signer.ts'

/** Plain JavaScript: slow, and its numbers cannot be wiped, but it runs wherever Node runs. */
export async function pureSigner(): Promise<Signer> {
  const { secp256k1 } = await import('@noble/curves/secp256k1')
  const { numberToBytesBE } = await import('@noble/curves/abstract/utils')
  return {
    name: 'pure',
    sign: (digest, privateKey) => {
      const signature = secp256k1.sign(digest, privateKey, { lowS: true, prehash: false })
      return signatureOf(signature.toCompactRawBytes(), signature.recovery)
    },
    publicKeyOf: (privateKey) => Buffer.from(secp256k1.getPublicKey(privateKey, false)),
    addToPrivateKey: (privateKey, addend) => {
      const { normPrivateKeyToScalar } = secp256k1.utils
      const sum = (normPrivateKeyToScalar(privateKey) + normPrivateKeyToScalar(addend)) % secp256k1.CURVE.n
      if (sum === 0n) throw new Error('the sum of both is not a private key')
      privateKey.set(numberToBytesBE(sum, 32))
    },
  }
}
