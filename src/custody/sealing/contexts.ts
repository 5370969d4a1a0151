import { createHash } from 'node:crypto'
import type { SealContext } from './sealing.ts'

/** The contexts of all kinds of sealed values. A change of one makes the values that were sealed before unreadable. */

export const transportKey = (id: string): SealContext => ['transport key', id]

/** The keys that are derived from a version of the root key, sealed under a later one. */
export const formerRootKey = (version: number): SealContext => ['former root key', String(version)]

export const walletSetEntropy = (entityId: string, walletSetId: string): SealContext => [
  'wallet set entropy',
  entityId,
  walletSetId,
]

export const walletPrivateKey = (entityId: string, keyId: string): SealContext => [
  'wallet private key',
  entityId,
  keyId,
]

export const platformEntropy = (entityId: string): SealContext => ['platform entropy', entityId]

export const platformPrivateKey = (entityId: string, keyId: string): SealContext => [
  'platform private key',
  entityId,
  keyId,
]

/** A grant opens only for the same entity, intent, address and intent bytes. */
export const grantedKey = (
  entityId: string,
  intentId: string,
  address: string,
  intent: Buffer,
): SealContext => grantedKeyOf(entityId, intentId, address, createHash('sha256').update(intent).digest('hex'))

/** The same, by the SHA-256 of the intent bytes in hexadecimal digits. */
export const grantedKeyOf = (
  entityId: string,
  intentId: string,
  address: string,
  intentSha256: string,
): SealContext => ['grant', entityId, intentId, address, intentSha256]

export const attestationPrivateKey = (purpose: string, id: string): SealContext => [
  'attestation private key',
  purpose,
  id,
]

export const signingCertificateKey = (id: string): SealContext => ['signing certificate key', id]

export const webhookKey = (id: string, curve: 'P-256' | 'Ed25519'): SealContext => ['webhook key', id, curve]

export const auditHeadKey: SealContext = ['audit head key', 'Ed25519']

export const messageToken = (purpose: string, id: string): SealContext => ['message token', purpose, id]

export const recoveryFile = (entityId: string, generation: number): SealContext => [
  'recovery file',
  entityId,
  String(generation),
]

export const bankNumber = (entityId: string, id: string): SealContext => ['bank number', entityId, id]

export const bankNumberFingerprint = (entityId: string, numbers: readonly string[]): SealContext => [
  'bank number fingerprint',
  entityId,
  ...numbers,
]
