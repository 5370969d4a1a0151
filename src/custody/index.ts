/** The public interface of custody: keys, what opens them, and signatures under policy. Policies, wallets and the keys of the installation have an index.ts each. */

export {
  type Custody,
  type CustodyCtx,
  type CustodyScope,
  type EntitySecret,
  type KeyOpener,
  openCustody,
  transportPublicKey,
  type UserKey,
} from './custody.ts'
export { SealBroken } from './sealing/sealing.ts'
export {
  decryptSecret,
  openEntitySecret,
  openSecretOf,
  type ShownSecret,
  spendCiphertext,
} from './secrets/entity-secret.ts'
export { registerEntitySecret, seedSandboxEntity } from './secrets/registration.ts'
export { type RotationProof, rotateEntitySecret } from './secrets/rotation.ts'
export {
  eraseGrants,
  GrantMissing,
  grantPlatformSigning,
  grantSigning,
  hasGrant,
  signForIntents,
  signOperations,
} from './signing/grants.ts'
export { type KnownKey, openKnownKey } from './signing/known-key.ts'
export { ledgerDigest } from './signing/ledger-digest.ts'
export { createPlatformKey, signWithPlatformKey, watchAddress } from './signing/platform-keys.ts'
export { signNow } from './signing/sign-now.ts'
export { recordPayloads, restorePayloads, SecondPayload, signedDigest } from './signing/signing-ledger.ts'
export { insertSpentIf } from './store/entity-secrets.ts'
export { type NonceRef, payloadsOf } from './store/signatures.ts'
export { copyTransportKeys } from './store/transport-keys.ts'
