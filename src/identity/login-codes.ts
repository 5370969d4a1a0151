import { randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import { decodeJwt, errors } from 'jose'
import { deriveBytes } from '#custody/sealing/index'
import { ApiError, invalid } from '#lib/errors'
import { isUuid } from '#lib/ids'
import { loginCode } from './contexts.ts'
import { loginMs } from './device-tokens.ts'
import type { IdentityCtx } from './identity.ts'
import { claimsOf, readClaims, signToken } from './jwt.ts'
import {
  clearLimits,
  countEntry,
  countForEmail,
  endLoginCode,
  insertLoginCode,
  type LoginCode,
  lockLoginCode,
} from './store/logins.ts'
import type { SigningKey } from './token-keys.ts'

/** Wrong entries after which a code is void. */
const entriesMax = 3

/** `head` is public: it tells a user which request a mail belongs to. */
export type SentCode = { id: string; otpToken: string; code: string; head: string }

/** Capital letters and digits that look like no other. */
const headAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const newHead = () => Array.from({ length: 3 }, () => headAlphabet[randomInt(headAlphabet.length)]).join('')

/** Makes a code for an address, and counts its mail; 155142 when the address has to wait. */
export async function makeLoginCode(
  ctx: IdentityCtx,
  { email, deviceId }: { email: string; deviceId: string },
  signingKey: SigningKey,
): Promise<SentCode> {
  const { db, entity, custody } = ctx
  const nowMs = ctx.clock.nowMs()
  if (!(await countForEmail(db, entity.id, email, 'send', nowMs))) throw new ApiError('otpSendsExceeded')
  const id = randomUUID()
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const codeMac = deriveBytes(custody.vault.root.newest().sealing, loginCode(entity.id, id, code))
  await insertLoginCode(db, entity.id, { id, deviceId, email, codeMac }, { nowMs, lifeMs: loginMs })
  const head = newHead()
  const claims = { ...claimsOf(ctx, id, loginMs), otpHead: head }
  return { id, code, head, otpToken: await signToken(claims, signingKey, 'otp+jwt') }
}

/** The id of the code of a token: 155130 after its ten minutes, 155131 for one that this server did not sign. */
async function readOtpToken(ctx: IdentityCtx, text: string): Promise<string> {
  const claims = await readClaims(ctx, text, 'otp+jwt').catch((error) => {
    if (error instanceof errors.JWTExpired && error.payload['entityId'] === ctx.entity.id)
      throw new ApiError('otpTokenExpired')
    if (error instanceof errors.JOSEError) throw new ApiError('otpTokenInvalid')
    throw error
  })
  if (claims['entityId'] !== ctx.entity.id || !isUuid(claims.jti)) throw new ApiError('otpTokenInvalid')
  return claims.jti
}

/** The letters that a tool shows before the digits, as its token has them. The token is verified when the code is entered. */
export const readCodeHead = (otpToken: string): string | undefined => {
  try {
    return String(decodeJwt(otpToken)['otpHead'])
  } catch {
    return undefined
  }
}

/** Makes another code in place of one that was sent to this address and device. */
export async function replaceLoginCode(
  ctx: IdentityCtx,
  { otpToken, email, deviceId }: { otpToken: string; email: string; deviceId: string },
  signingKey: SigningKey,
): Promise<SentCode> {
  const sent = await requireOpenCode(ctx, await readOtpToken(ctx, otpToken))
  if (sent.email !== email)
    throw invalid({
      at: 'email',
      reason: 'is not the address that the code was sent to',
      value: email,
      kind: 'emailMismatch',
    })
  if (sent.deviceId !== deviceId)
    throw invalid({
      at: 'deviceId',
      reason: 'is not the device that the code was made for',
      value: deviceId,
      kind: 'deviceIdInvalid',
    })
  await endLoginCode(ctx.db, ctx.entity.id, sent.id, ctx.clock.nowMs())
  return makeLoginCode(ctx, sent, signingKey)
}

async function requireOpenCode({ db, entity }: IdentityCtx, id: string): Promise<LoginCode> {
  const code = await lockLoginCode(db, entity.id, id)
  if (!code || code.isEnded) throw new ApiError('otpTokenInvalid')
  return code
}

/**
 * Counts an entry and then compares it, so that neither a crash nor requests at once make one free. Runs in a `tx` of its
 * own. Throws 155134, 155141, or 155146 for a code that three entries made void.
 */
export async function enterLoginCode(
  ctx: IdentityCtx,
  { otpToken, deviceId, otp }: { otpToken: string; deviceId: string; otp: string },
): Promise<LoginCode> {
  const { entity, custody } = ctx
  const id = await readOtpToken(ctx, otpToken)
  const code = await ctx.database.tx(async (db) => {
    const found = await requireOpenCode({ ...ctx, db }, id)
    if (found.deviceId !== deviceId) throw new ApiError('otpTokenInvalid')
    if (found.entries >= entriesMax) throw new ApiError('otpTokenVoid')
    if (!(await countForEmail(db, entity.id, found.email, 'entry', ctx.clock.nowMs())))
      throw new ApiError('otpEntriesExceeded')
    await countEntry(db, entity.id, id)
    return found
  })
  const entered = custody.vault.root
    .known()
    .map(({ sealing }) => deriveBytes(sealing, loginCode(entity.id, id, otp)))
  if (entered.some((mac) => timingSafeEqual(mac, code.codeMac))) return code
  const left = entriesMax - code.entries - 1
  if (left === 0) throw new ApiError('otpTokenVoid')
  const tries = left === 1 ? '1 more try' : `${left} more tries`
  throw invalid({
    at: 'otp',
    reason: `is not the code that was sent: ${tries} before it is void`,
    kind: 'otpMismatch',
  })
}

/** Uses up a code that was entered; of several right entries at once, one does. */
export async function useLoginCode(
  { db, entity, clock }: IdentityCtx,
  { id, email }: LoginCode,
): Promise<void> {
  if (!(await endLoginCode(db, entity.id, id, clock.nowMs()))) throw new ApiError('otpTokenInvalid')
  await clearLimits(db, entity.id, email)
}
