import * as secp256k1 from 'tiny-secp256k1'
import { faultOf } from './known-answers.ts'
import { type Signer, signatureOf } from './signer.ts'

/** libsecp256k1 compiled to WebAssembly: the same code on every machine. It wipes its copies of private keys. */
export const secp256k1Signer: Signer = {
  sign: (digest, privateKey) => {
    const { signature, recoveryId } = secp256k1.signRecoverable(digest, privateKey)
    return signatureOf(signature, recoveryId)
  },
  publicKeyOf: (privateKey) => {
    const point = secp256k1.pointFromScalar(privateKey, false)
    if (!point) throw new Error('the private key is outside the order of the curve')
    return Buffer.from(point)
  },
  addToPrivateKey: (privateKey, addend) => {
    const sum = secp256k1.privateAdd(privateKey, addend)
    if (!sum) throw new Error('the sum of both is not a private key')
    privateKey.set(sum)
    sum.fill(0)
  },
}

/** Returns the signer after it has answered the published vectors: a process that signs wrongly must not start. */
export function provenSigner(signer: Signer = secp256k1Signer): Signer {
  const fault = faultOf(signer)
  if (fault !== undefined) throw new Error(`the signer of this machine is broken: ${fault}; reinstall bezant`)
  return signer
}
