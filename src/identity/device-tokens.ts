import { randomUUID, timingSafeEqual } from 'node:crypto'
import { errors } from 'jose'
import { unseal, withUnsealed } from '#custody/sealing/index'
import { ApiError } from '#lib/errors'
import { isUuid } from '#lib/ids'
import { deviceEncryptionKey } from './contexts.ts'
import type { IdentityCtx } from './identity.ts'
import { claimsOf, makeTokenSecret, readClaims, signToken } from './jwt.ts'
import { findDeviceToken, putDeviceToken, takeDeviceToken } from './store/logins.ts'
import type { SigningKey } from './token-keys.ts'

/** The life of a device token, and of a code that was sent with it. */
export const loginMs = 10 * 60_000

type DeviceSession = { deviceToken: string; deviceEncryptionKey: string }

/** Issues the token of a device, by which a page may log a user in; the former one of the device ends. */
export async function issueDeviceToken(
  ctx: IdentityCtx,
  deviceId: string,
  signingKey: SigningKey,
): Promise<DeviceSession & { id: string }> {
  const { db, entity, config } = ctx
  const id = randomUUID()
  const shared = claimsOf(ctx, id, loginMs)
  const { sealed, shown } = makeTokenSecret(ctx, deviceEncryptionKey(entity.id, id))
  const row = { id, deviceId, sealedEncryptionKey: sealed, expireMs: shared.exp * 1_000 }
  await putDeviceToken(db, entity.id, row, ctx.clock.nowMs())
  const claims = { ...shared, iss: config.publicUrl ?? '', sub: deviceId }
  return { id, deviceToken: await signToken(claims, signingKey, 'device+jwt'), deviceEncryptionKey: shown }
}

export type Device = { entity: IdentityCtx['entity']; deviceId: string; tokenId: string }

/** The device of a token: 155143 after its ten minutes, 155144 for one that this server did not sign. */
export async function readDeviceToken(
  ctx: Pick<IdentityCtx, 'identity' | 'clock'>,
  text: string,
): Promise<Device> {
  const claims = await readClaims(ctx, text, 'device+jwt').catch((error) => {
    if (error instanceof errors.JWTExpired) throw new ApiError('deviceTokenExpired')
    if (error instanceof errors.JOSEError) throw new ApiError('deviceTokenInvalid')
    throw error
  })
  const { entityId, developerEntityEnvironment: environment, jti, sub } = claims
  if (!isUuid(entityId) || !isUuid(jti) || !sub) throw new ApiError('deviceTokenInvalid')
  const entity = { id: entityId, environment: environment === 'LIVE' ? 'LIVE' : 'TEST', appId: '' } as const
  return { entity, deviceId: sub, tokenId: jti }
}

/** Checks that the token is the active one of its device (155145), and that the caller holds its key (155144). */
export async function requireActiveDevice(ctx: IdentityCtx, { deviceId, tokenId }: Device, key: string) {
  const { db, entity, custody } = ctx
  const found = await findDeviceToken(db, entity.id, deviceId, tokenId)
  if (!found) throw new ApiError('deviceTokenNotFound')
  const given = Buffer.from(key, 'base64')
  const matches = withUnsealed(
    custody.vault.root,
    deviceEncryptionKey(entity.id, tokenId),
    found.sealedEncryptionKey,
    (own) => given.length === own.length && timingSafeEqual(given, own),
  )
  if (!matches)
    throw new ApiError('deviceTokenInvalid', 'deviceEncryptionKey does not belong to deviceToken.')
}

/** Runs `work` with the key of a device token, and wipes it afterwards; 155145 unless the token is the active one of its device. */
export async function withDeviceKey<Result>(
  { db, entity, custody }: IdentityCtx,
  { deviceId, tokenId }: Device,
  work: (key: Buffer) => Result,
): Promise<Awaited<Result>> {
  const found = await findDeviceToken(db, entity.id, deviceId, tokenId)
  if (!found) throw new ApiError('deviceTokenNotFound')
  const context = deviceEncryptionKey(entity.id, tokenId)
  const key = unseal(custody.vault.root, context, found.sealedEncryptionKey)
  try {
    return await work(key)
  } finally {
    key.fill(0)
  }
}

/** Uses up the token of a device; of several logins with it, one does. */
export async function useDeviceToken(
  { db, entity }: IdentityCtx,
  { deviceId, tokenId }: Device,
): Promise<void> {
  if (!(await takeDeviceToken(db, entity.id, deviceId, tokenId))) throw new ApiError('deviceTokenNotFound')
}
