import type { Custody } from './custody.ts'

/** The public interface of custody: everything else in this folder is internal. */

export { findKeptAnswer, keepAnswer, keptAnswer } from './answers.ts'
export {
  createAttestationKey,
  endAttestationKey,
  importAttestationKey,
  signAttestations,
  signWithKeyInUse,
} from './attestation-keys.ts'
export { auditPublicKeyOf, auditVerifyingKey, isAuditSignature } from './audit-signer.ts'
export { selfSignedCertificate } from './certificate.ts'
export {
  type Custody,
  type CustodyCtx,
  type CustodyScope,
  type EntitySecret,
  type KeyOpener,
  type OpenCustodyInput,
  openCustody,
  type UserKey,
} from './custody.ts'
export {
  type Device,
  issueDeviceToken,
  loginMs,
  readDeviceToken,
  requireActiveDevice,
  useDeviceToken,
} from './device-tokens.ts'
export {
  decryptSecret,
  openEntitySecret,
  openSecretOf,
  type ShownSecret,
  spendCiphertext,
} from './entity-secret.ts'
export {
  eraseGrants,
  GrantMissing,
  grantPlatformSigning,
  grantSigning,
  hasGrant,
  signForIntents,
  signOperations,
} from './grants.ts'
export { tokenIdOf } from './jwt.ts'
export { type KnownKey, openKnownKey } from './known-key.ts'
export {
  enterLoginCode,
  makeLoginCode,
  replaceLoginCode,
  type SentCode,
  useLoginCode,
} from './login-codes.ts'
export type { Notary } from './notary.ts'
export { createPlatformKey, signWithPlatformKey, watchAddress } from './platform-keys.ts'
export {
  type Decision,
  decidePolicy,
  releaseAllowance,
  repeatDecision,
  reserveAllowanceAgain,
  type SignedIntent,
} from './policy/decide-policy.ts'
export { freeze, isFrozen, unfreeze, WalletFrozen } from './policy/freeze.ts'
export { policyHistory } from './policy/history.ts'
export type { Operation, OperationDanger, OperationEffect } from './policy/operation.ts'
export { parseRules, type Rules } from './policy/rules.ts'
export { type PolicySubject, permissive, setPolicy, startPermissive } from './policy/set-policy.ts'
export { signNow } from './policy/sign-now.ts'
export { registerEntitySecret, seedSandboxEntity } from './registration.ts'
export { type RotationProof, rotateEntitySecret } from './rotation.ts'
export { SealBroken } from './sealing.ts'
export { recordPayloads, restorePayloads, SecondPayload, signedDigest } from './signing-ledger.ts'
export {
  type AttestationKey,
  type AttestationPurpose,
  attestationKeyInUse,
  attestationKeysInUse,
  attestedDigests,
  listAttestationKeys,
} from './store/attestation-keys.ts'
export { findEntityFreeze } from './store/freezes.ts'
export { logsIn } from './store/identities.ts'
export { managedAfter, managedAmong } from './store/managed-addresses.ts'
export {
  copySpending,
  ownerOf,
  type PolicyScope,
  policiesInForce,
  restoreSpending,
  type VersionRow,
} from './store/policies.ts'
export { type NonceRef, payloadsOf } from './store/signatures.ts'
export { findSigningCertificate } from './store/signing-certificates.ts'
export { type SecretState, secretStatuses } from './store/user-guesses.ts'
export { listUsers, type User } from './store/users.ts'
export { findUserWalletSet, findWalletSet, listWalletSets } from './store/wallet-sets.ts'
export {
  findWallet,
  findWalletAnywhere,
  findWalletByAddress,
  listWallets,
  ownerOfAccount,
  type WalletCore,
  walletsMadeWith,
} from './store/wallets.ts'
export { findWebhookKey, listWebhookKeys } from './store/webhook-keys.ts'
export type * from './types.ts'
export { openGuessFiles } from './user-keys/guess-files.ts'
export { overrideLock } from './user-keys/guesses.ts'
export { type UserKeyState, userKeyStateOf } from './user-keys/state.ts'
export { type Purpose, purposes, type Submission } from './user-keys/submission.ts'
export {
  addDevice,
  changePin,
  type KeyChange,
  openWithDevice,
  openWithPin,
  restorePin,
  setDevice,
  setPin,
  setQuestions,
  storeKeyChange,
} from './user-keys/user-keys.ts'
export { beginSession, renewSession, useIdToken, userOfEmail, userOfIdentity } from './user-sessions.ts'
export { type SigningKey, tokenMaxMs } from './user-token-keys.ts'
export {
  issueUserToken,
  openTokenKey,
  requireSession,
  requireTokenUser,
  withEncryptionKey,
} from './user-tokens.ts'
export { createUser, logOutUser, requireUser, setUserStatus } from './users.ts'
export { createWalletSet, updateWalletSet, walletSetsMax } from './wallet-sets.ts'
export {
  type CreateWalletsInput,
  createWallets,
  deriveWallet,
  recordUpgrades,
  requireWallet,
  type SmartAccountKind,
  updateWallet,
} from './wallets.ts'
export { rotateWebhookKeys, type WebhookSigner } from './webhook-signer.ts'

/** The public key that clients encrypt the entity secret to, PEM. */
export const transportPublicKey = (custody: Custody): Promise<string> => custody.transport.publicKey()

/** Makes a new transport key the public one; ciphertexts for older keys are still accepted. */
export const rotateTransportKey = (custody: Custody): Promise<void> => custody.transport.rotate()
