import { createPrivateKey, type KeyObject } from 'node:crypto'
import { type SealContext, seal, type Vault, withUnsealed } from './sealing.ts'

type Root = Pick<Vault, 'root'>

/** Seals a private key as PKCS #8 under the root key. */
export function sealPrivateKey({ root }: Root, context: SealContext, key: KeyObject): Buffer {
  const der = key.export({ type: 'pkcs8', format: 'der' })
  const sealed = seal(root, context, der)
  der.fill(0)
  return sealed
}

/** Opens a private key that `sealPrivateKey` sealed. Throws `SealBroken`. */
export const openPrivateKey = ({ root }: Root, context: SealContext, sealed: Buffer): KeyObject =>
  withUnsealed(root, context, sealed, (der) => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))

/** Returns a public key as SubjectPublicKeyInfo in DER. */
export const publicBytesOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })
