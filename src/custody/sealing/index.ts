/** How secrets are sealed at rest. Custody and identity alone seal; see the rule of imports. */

export { decrypt, nonceBytes, tagBytes } from './decrypt.ts'
export { followNewest } from './newest-key.ts'
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
