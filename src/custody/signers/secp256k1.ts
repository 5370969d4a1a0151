import * as secp256k1 from 'tiny-secp256k1'
import { faultOf } from './known-answers.ts'
import { type Signer, signatureOf } from './signer.ts'

const throwawayKey = Buffer.alloc(32, 1)
let isWipeDue = false

/**
 * Overwrites the private keys that operations left in the stack frames of the module, which wipes only its inputs, by the
 * same operations with a throwaway key. Runs once after all operations of a turn of the event loop.
 */
function wipeSoon(): void {
  if (isWipeDue) return
  isWipeDue = true
  queueMicrotask(() => {
    isWipeDue = false
    secp256k1.signRecoverable(throwawayKey, throwawayKey)
    secp256k1.pointFromScalar(throwawayKey, false)
    secp256k1.privateAdd(throwawayKey, throwawayKey)
  })
}

/** libsecp256k1 compiled to WebAssembly: the same code on every machine. */
export const secp256k1Signer: Signer = {
  sign: (digest, privateKey) => {
    wipeSoon()
    const { signature, recoveryId } = secp256k1.signRecoverable(digest, privateKey)
    return signatureOf(signature, recoveryId)
  },
  publicKeyOf: (privateKey) => {
    wipeSoon()
    const point = secp256k1.pointFromScalar(privateKey, false)
    if (!point) throw new Error('the private key is outside the order of the curve')
    return Buffer.from(point)
  },
  addToPrivateKey: (privateKey, addend) => {
    wipeSoon()
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
