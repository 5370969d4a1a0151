import { randomUUID } from 'node:crypto'
import { errors } from 'jose'
import { unseal } from '#custody/sealing/index'
import { ApiError } from '#lib/errors'
import { isUuid } from '#lib/ids'
import type { TokenUser } from '#runtime/scope'
import { userEncryptionKey } from './contexts.ts'
import type { IdentityCtx } from './identity.ts'
import { claimsOf, makeTokenSecret, readClaims, signToken } from './jwt.ts'
import { findTokenKey, findTokenUser, insertUserToken } from './store/tokens.ts'
import type { User } from './store/users.ts'
import type { SigningKey } from './token-keys.ts'

/** The means by which a page acts for a user: the token, and the base64 of 32 bytes that belong to it. */
export type UserSession = { userToken: string; encryptionKey: string }

const endedText = 'The user token is invalid: its session has ended. Let the user log in again.'

/** The life of a token that an app asks for. */
const userTokenMs = 60 * 60_000

/** The key that signs tokens now; called outside a `tx`, before one of them is issued. */
export const openTokenKey = ({ identity }: Pick<IdentityCtx, 'identity'>): Promise<SigningKey> =>
  identity.tokenKeys.current()

/** Issues a token of the user; older ones stay valid. 155109 when the user is disabled. */
export async function issueUserToken(
  ctx: IdentityCtx,
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
export const requireTokenUser = async (ctx: IdentityCtx, text: string): Promise<TokenUser> =>
  (await sessionOf(ctx, text, ctx.entity.id)).user

/** The entity and the user of a valid token, where nothing else names the entity. */
export const requireSession = (ctx: IdentityCtx, text: string): Promise<TokenSession> => sessionOf(ctx, text)

type TokenSession = { entity: IdentityCtx['entity']; user: TokenUser }

async function sessionOf(ctx: IdentityCtx, text: string, entityId?: string): Promise<TokenSession> {
  const isForeign = (named: unknown) => !isUuid(named) || (entityId !== undefined && named !== entityId)
  const claims = await readClaims(ctx, text, 'JWT').catch((error) => {
    if (error instanceof errors.JWTExpired && !isForeign(error.payload['entityId']))
      throw new ApiError('userTokenExpired')
    if (error instanceof errors.JOSEError) throw new ApiError('userTokenInvalid')
    throw error
  })
  const { entityId: named, developerEntityEnvironment: environment, jti } = claims
  if (isForeign(named) || !isUuid(jti)) throw new ApiError('userTokenInvalid')
  const entity = {
    id: String(named),
    environment: environment === 'LIVE' ? 'LIVE' : 'TEST',
    appId: '',
  } as const
  const held = await findTokenUser(ctx.db, entity.id, jti)
  if (!held || held.id !== claims['internalUserId']) throw new ApiError('userTokenUnknown')
  if (held.isEnded) throw new ApiError('userTokenInvalid', endedText)
  if (held.status === 'DISABLED') throw new ApiError('userDisabled')
  const { id, userId, deviceId } = held
  return { entity, user: { id, userId, tokenId: jti, deviceId: deviceId ?? undefined } }
}

/** Runs `work` with the key that belongs to a user token, and wipes it afterwards. */
export async function withEncryptionKey<Result>(
  { db, entity, custody }: IdentityCtx,
  tokenId: string,
  work: (encryptionKey: Buffer) => Promise<Result>,
): Promise<Result> {
  const found = await findTokenKey(db, entity.id, tokenId)
  if (!found) throw new ApiError('userTokenUnknown')
  const key = unseal(custody.vault.root, userEncryptionKey(entity.id, tokenId), found.sealedEncryptionKey)
  return work(key).finally(() => key.fill(0))
}
