/** Encryption of secrets in the database: to seal a value is to encrypt it for one context. Only custody and identity import it. */

export { decrypt, nonceBytes, tagBytes } from './decrypt.ts'
export { followNewest } from './newest-key.ts'
export { RootKeyRetired } from './root-keys.ts'
export { openPrivateKey, publicBytesOf, sealPrivateKey } from './sealed-keys.ts'
export {
  deriveBytes,
  expand,
  openVault,
  SealBroken,
  type SealContext,
  seal,
  takeKey,
  unseal,
  type Vault,
  withUnsealed,
} from './sealing.ts'
