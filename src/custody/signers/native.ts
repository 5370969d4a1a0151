import { createRequire } from 'node:module'
import { type Signer, signatureOf } from './signer.ts'

type Bindings = typeof import('secp256k1')

/**
 * libsecp256k1 compiled for this machine; throws where no build fits. The package's own entry would fall back to a slow
 * implementation silently, so it is bypassed.
 */
export async function nativeSigner(): Promise<Signer> {
  const bindings = createRequire(import.meta.url)('secp256k1/bindings.js') as Bindings
  return {
    sign: (digest, privateKey) => {
      const { signature, recid } = bindings.ecdsaSign(digest, privateKey)
      return signatureOf(signature, recid)
    },
    publicKeyOf: (privateKey) => Buffer.from(bindings.publicKeyCreate(privateKey, false)),
    addToPrivateKey: (privateKey, addend) => void bindings.privateKeyTweakAdd(privateKey, addend),
  }
}
