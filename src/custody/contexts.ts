import { createHash } from 'node:crypto'
import type { SealContext } from './sealing.ts'
import type { UserRef } from './store/user-keys.ts'

/** Contexts that each kind of sealed value is bound to. Changing one makes values sealed before unreadable. */

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
export const grantOf = (entityId: string, intentId: string, address: string, intent: Buffer): SealContext => [
  'grant',
  entityId,
  intentId,
  address,
  createHash('sha256').update(intent).digest('hex'),
]

export const attestationPrivateKey = (purpose: string, id: string): SealContext => [
  'attestation private key',
  purpose,
  id,
]

export const signingCertificateKey = (id: string): SealContext => ['signing certificate key', id]

export const webhookKey = (id: string, curve: 'P-256' | 'Ed25519'): SealContext => ['webhook key', id, curve]

export const userTokenKey = (id: string): SealContext => ['user token key', id]

export const userEncryptionKey = (entityId: string, tokenId: string): SealContext => [
  'user encryption key',
  entityId,
  tokenId,
]

export const deviceEncryptionKey = (entityId: string, tokenId: string): SealContext => [
  'device encryption key',
  entityId,
  tokenId,
]

export const loginCode = (entityId: string, id: string, code: string): SealContext => [
  'login code',
  entityId,
  id,
  code,
]

export const sealedAnswer = (entityId: string, id: string): SealContext => ['sealed answer', entityId, id]

export const auditHeadKey: SealContext = ['audit head key', 'Ed25519']

export const messageToken = (purpose: string, id: string): SealContext => ['message token', purpose, id]

export const recoveryBundle = (entityId: string, generation: number): SealContext => [
  'recovery file',
  entityId,
  String(generation),
]

/** The random secret of a user that is mixed into what opens the user's key. */
export const userSecret = ({ entityId, userId }: UserRef): SealContext => ['user secret', entityId, userId]

/** A user's key, sealed for a secret that opens it. */
export const userKeyInner = ({ entityId, userId }: UserRef, kind: string, slot: string): SealContext => [
  'user key',
  entityId,
  userId,
  kind,
  slot,
]

/** The same, sealed again under the root key. */
export const userKeyOuter = ({ entityId, userId }: UserRef, kind: string, slot: string): SealContext => [
  'wrapped user key',
  entityId,
  userId,
  kind,
  slot,
]
