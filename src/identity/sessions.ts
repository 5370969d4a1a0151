import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { ApiError, invalid } from '#lib/errors'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'
import type { IdentityCtx } from './identity.ts'
import {
  findIdentityUser,
  insertIdentityUser,
  insertUsedIdToken,
  lockIdentity,
  type UserIdentity,
} from './store/identities.ts'
import { findEmailUser, insertEmailUser, lockEmail } from './store/logins.ts'
import {
  endSession,
  insertRefreshToken,
  insertSession,
  lockRefreshToken,
  useRefreshToken,
} from './store/sessions.ts'
import type { User } from './store/users.ts'
import { type SigningKey, tokenMaxMs } from './token-keys.ts'
import { issueUserToken, type UserSession } from './tokens.ts'
import { createUser, requireUser } from './users.ts'

type RenewedSession = UserSession & { refreshToken: string }

/** The user behind a proven address, who is made at the first login. */
export async function userOfEmail(ctx: IdentityCtx, email: string): Promise<User> {
  const { db, entity } = ctx
  await lockEmail(db, entity.id, email)
  const known = await findEmailUser(db, entity.id, email)
  if (known !== undefined) return requireUser(ctx, known)
  const user = await createUser(ctx, randomUUID())
  await insertEmailUser(db, entity.id, email, user.userId, ctx.clock.nowMs())
  return user
}

/** The user behind a proven identity of a provider, who is made at the first login. */
export async function userOfIdentity(ctx: IdentityCtx, identity: UserIdentity): Promise<User> {
  const { db, entity } = ctx
  await lockIdentity(db, entity.id, identity)
  const known = await findIdentityUser(db, entity.id, identity)
  if (known !== undefined) return requireUser(ctx, known)
  const user = await createUser(ctx, randomUUID())
  await insertIdentityUser(db, entity.id, identity, user.userId, ctx.clock.nowMs())
  return user
}

/** Uses up an ID token; of several logins with it, one does. */
export async function useIdToken(
  { db, entity, clock }: IdentityCtx,
  token: { sha256: Buffer; expireMs: number },
): Promise<void> {
  if (!(await insertUsedIdToken(db, entity.id, token, clock.nowMs())))
    throw new ApiError('socialTokenInvalid')
}

/** Begins the session of a user who has logged in on a device. */
export async function beginSession(
  ctx: IdentityCtx,
  user: User,
  deviceId: string,
  signingKey: SigningKey,
): Promise<RenewedSession> {
  const { db, entity } = ctx
  const nowMs = ctx.clock.nowMs()
  const id = newId(nowMs)
  await insertSession(db, entity.id, { id, userId: user.userId, deviceId, nowMs })
  return issueInSession(ctx, user, id, signingKey)
}

async function issueInSession(
  ctx: IdentityCtx,
  user: User,
  sessionId: string,
  signingKey: SigningKey,
): Promise<RenewedSession> {
  const nowMs = ctx.clock.nowMs()
  const issued = await issueUserToken(ctx, user, signingKey, { lifeMs: tokenMaxMs, sessionId })
  const refreshToken = randomBytes(32).toString('base64url')
  const made = { sha256: hashOf(refreshToken), sessionId, expireMs: nowMs + tokenMaxMs, nowMs }
  await insertRefreshToken(ctx.db, ctx.entity.id, made)
  return { ...issued, refreshToken }
}

const hashOf = (token: string) => createHash('sha256').update(token).digest()

/**
 * Renews a session by its refresh token, which works once. One that comes again was stolen, from the user or by the user's
 * thief: the session ends with all of its tokens.
 */
export async function renewSession(
  ctx: IdentityCtx,
  { refreshToken, deviceId }: { refreshToken: string; deviceId: string },
  signingKey: SigningKey,
): Promise<RenewedSession & { userId: string }> {
  const { db, entity, actor, requestId } = ctx
  const nowMs = ctx.clock.nowMs()
  const sha256 = hashOf(refreshToken)
  const held = await lockRefreshToken(db, entity.id, sha256)
  const refuse = (reason: string) => invalid({ at: 'refreshToken', reason, kind: 'userTokenInvalid' })
  if (!held || held.userId !== ctx.user?.userId) throw refuse('is not of this user')
  if (held.isUsed || held.isEnded) {
    // The refusal rolls this `tx` back, and the end of the session must stay.
    ctx.afterRollback.push(() =>
      ctx.database.tx(async (tx) => {
        if ((await endSession(tx, entity.id, held.sessionId, nowMs)) === 0) return
        const type = 'userSession.ended'
        await recordChanges(tx, nowMs, [
          { entityId: entity.id, actor, type, resourceId: held.sessionId, requestId },
        ])
      }),
    )
    throw refuse('was used before: the session has ended, and the user has to log in again')
  }
  if (held.deviceId !== deviceId)
    throw new ApiError('deviceUnknown', 'The device id is not that of the session.')
  if (Date.parse(held.expireDate) <= nowMs) throw new ApiError('userTokenExpired')
  await useRefreshToken(db, entity.id, sha256, nowMs)
  const user = await requireUser(ctx, held.userId)
  return { ...(await issueInSession(ctx, user, held.sessionId, signingKey)), userId: user.userId }
}
