import type { SealContext } from '#custody/sealing/index'
import type { UserRef } from './store/user-keys.ts'

/** Contexts that each kind of sealed value of users is bound to. Changing one makes values sealed before unreadable. */

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

/** The key of a member's one-time codes. */
export const memberCodeKey = (memberId: string): SealContext => ['member code key', memberId]

/** A key of one-time codes that a session has made and not confirmed yet. */
export const pendingCodeKey = (memberId: string, sessionId: string): SealContext => [
  'pending member code key',
  memberId,
  sessionId,
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
