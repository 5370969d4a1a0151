import { numberToBytesBE } from '@noble/curves/abstract/utils'
import { secp256k1 } from '@noble/curves/secp256k1'
import { type Signer, signatureOf } from '#custody/signers/signer'

/** The oracle of signatures: an independent implementation in plain JavaScript. */
export const pureSigner: Signer = {
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
