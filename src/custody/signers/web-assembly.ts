import type * as Secp256k1 from 'tiny-secp256k1'
import { type Signer, signatureOf } from './signer.ts'

const throwawayKey = Buffer.alloc(32, 1)

/** libsecp256k1 compiled to WebAssembly: the same code where no native build fits the machine. */
export async function webAssemblySigner(): Promise<Signer> {
  const module = await import('tiny-secp256k1')
  const wipeSoon = wipeOf(module)
  return {
    sign: (digest, privateKey) => {
      wipeSoon()
      const { signature, recoveryId } = module.signRecoverable(digest, privateKey)
      return signatureOf(signature, recoveryId)
    },
    publicKeyOf: (privateKey) => {
      wipeSoon()
      const point = module.pointFromScalar(privateKey, false)
      if (!point) throw new Error('the private key is outside the order of the curve')
      return Buffer.from(point)
    },
    addToPrivateKey: (privateKey, addend) => {
      wipeSoon()
      const sum = module.privateAdd(privateKey, addend)
      if (!sum) throw new Error('the sum of both is not a private key')
      privateKey.set(sum)
      sum.fill(0)
    },
  }
}

/**
 * Returns a function that overwrites the private keys that operations left in the stack frames of the module, which wipes only
 * its inputs, by the same operations with a throwaway key. It runs once after all operations of a turn of the event loop.
 */
function wipeOf(module: typeof Secp256k1): () => void {
  let isDue = false
  const wipe = () => {
    isDue = false
    module.signRecoverable(throwawayKey, throwawayKey)
    module.pointFromScalar(throwawayKey, false)
    module.privateAdd(throwawayKey, throwawayKey)
  }
  return () => {
    if (isDue) return
    isDue = true
    queueMicrotask(wipe)
  }
}
