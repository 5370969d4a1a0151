import { type Signer, signatureOf } from './signer.ts'

/** libsecp256k1 compiled to WebAssembly: the same code where no native build fits the machine. */
export async function wasmSigner(): Promise<Signer> {
  const wasm = await import('tiny-secp256k1')
  return {
    name: 'wasm',
    sign: (digest, privateKey) => {
      const { signature, recoveryId } = wasm.signRecoverable(digest, privateKey)
      return signatureOf(signature, recoveryId)
    },
    publicKeyOf: (privateKey) => {
      const point = wasm.pointFromScalar(privateKey, false)
      if (!point) throw new Error('the private key is outside the order of the curve')
      return Buffer.from(point)
    },
    addToPrivateKey: (privateKey, addend) => {
      const sum = wasm.privateAdd(privateKey, addend)
      if (!sum) throw new Error('the sum of both is not a private key')
      privateKey.set(sum)
      sum.fill(0)
    },
  }
}
