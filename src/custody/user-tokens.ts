import { randomUUID } from 'node:crypto'
import { errors } from 'jose'
import { ApiError } from '#lib/errors'
import { isUuid } from '#lib/ids'
import type { TokenUser } from '#runtime/scope'
import { userEncryptionKey } from './contexts.ts'
import type { Custody, CustodyCtx } from './custody.ts'
import { claimsOf, makeTokenSecret, readClaims, signToken } from './jwt.ts'
import { findTokenUser, insertUserToken } from './store/user-tokens.ts'
import type { User } from './store/users.ts'
import type { SigningKey } from './user-token-keys.ts'

/** The means by which a page acts for a user: the token, and the base64 of 32 bytes that belong to it. */
export type UserSession = { userToken: string; encryptionKey: string }

const endedText = 'The user token is invalid: its session has ended. Let the user log in again.'

/** The life of a token that an app asks for. */
export const userTokenMs = 60 * 60_000

/** The key that signs tokens now; called outside a `tx`, before one of them is issued. */
export const openTokenKey = ({ custody }: { custody: Custody }): Promise<SigningKey> =>
  custody.userTokenKeys.current()

/** Issues a token of the user; older ones stay valid. 155109 when the user is disabled. */
export async function issueUserToken(
  ctx: CustodyCtx,
  user: Pick<User, 'id' | 'userId' | 'status'>,
  signingKey: SigningKey,
  { lifeMs = userTokenMs, sessionId }: { lifeMs?: number; sessionId?: string } = {},
): Promise<UserSession> {
  const { db, entity, config } = ctx
  if (user.status === 'DISABLED') throw new ApiError('userDisabled')
  const id = randomUUID()
  const nowMs = ctx.clock.nowMs()
  const shared = claimsOf(ctx, id, lifeMs)
  const { sealed, shown } = makeTokenSecret(ctx, userEncryptionKey(entity.id, id))
  const { userId } = user
  const row = { id, userId, sealedEncryptionKey: sealed, sessionId, expireMs: shared.exp * 1_000, nowMs }
  await insertUserToken(db, entity.id, row)
  const claims = { ...shared, iss: config.publicUrl ?? '', sub: userId, internalUserId: user.id }
  return { userToken: await signToken(claims, signingKey, 'JWT'), encryptionKey: shown }
}

/**
 * The user of a valid token. 155105 for one that this server did not sign, or signed for another entity; 155104 after its
 * hour; 155103 when it was removed since; 155109 when its user was disabled since.
 */
export async function requireTokenUser(ctx: CustodyCtx, text: string): Promise<TokenUser> {
  const claims = await readClaims(ctx, text, 'JWT').catch((error) => {
    if (error instanceof errors.JWTExpired && error.payload['entityId'] === ctx.entity.id)
      throw new ApiError('userTokenExpired')
    if (error instanceof errors.JOSEError) throw new ApiError('userTokenInvalid')
    throw error
  })
  if (claims['entityId'] !== ctx.entity.id || !isUuid(claims.jti)) throw new ApiError('userTokenInvalid')
  const held = await findTokenUser(ctx.db, ctx.entity.id, claims.jti)
  if (!held || held.id !== claims['internalUserId']) throw new ApiError('userTokenUnknown')
  if (held.isEnded) throw new ApiError('userTokenInvalid', endedText)
  if (held.status === 'DISABLED') throw new ApiError('userDisabled')
  return { id: held.id, userId: held.userId, tokenId: claims.jti }
}
