/** The keys of the installation itself, which sign cross-chain messages, unified balances, webhooks, notifications and the audit trail. */

export {
  createAttestationKey,
  endAttestationKey,
  importAttestationKey,
  signAttestations,
  signQuote,
  signWithKeyInUse,
} from './attestation-keys.ts'
export { type AuditKey, auditVerifyingKey, isAuditSignature, readAuditKeys } from './audit-signer.ts'
export { selfSignedCertificate } from './certificate.ts'
export type { Notary } from './notary.ts'
export {
  type AttestationKey,
  type AttestationPurpose,
  type AttestationSignature,
  attestationKeyInUse,
  attestationKeysInUse,
  attestationSignatures,
  attestedDigests,
  listAttestationKeys,
} from './store/attestation-keys.ts'
export { findSigningCertificate } from './store/signing-certificates.ts'
export { findWebhookKey, listWebhookKeys } from './store/webhook-keys.ts'
export { rotateWebhookKeys, type WebhookSigner } from './webhook-signer.ts'
