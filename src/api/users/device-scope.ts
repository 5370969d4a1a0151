import { requireAllowedOrigin } from '#api/allowed-origin'
import type { Ctx } from '#engines/ctx'
import {
  type Device,
  issueDeviceToken,
  keepAnswer,
  loginMs,
  readDeviceToken,
  requireActiveDevice,
  type SigningKey,
} from '#identity/index'
import { invalid } from '#lib/errors'

export function requireDeviceId(text: string): string {
  if (/^[\w.:-]+$/.test(text)) return text
  const reason = 'must be letters, digits and the characters - _ . : as the page tells it'
  throw invalid({ at: 'deviceId', reason, value: text, kind: 'deviceIdInvalid' })
}

/** Issues a token for a device; a repeated request gets it again. */
export async function createDeviceToken(
  ctx: Ctx,
  { body }: { body: { deviceId: string } },
  signingKey: SigningKey,
) {
  const { id, ...answer } = await issueDeviceToken(ctx, requireDeviceId(body.deviceId), signingKey)
  await keepAnswer(ctx, id, answer, loginMs)
  return answer
}

/** The device of a page, which has no API key: its token names the entity, and its key proves that the token is the page's. */
export async function openDevice(
  ctx: Ctx,
  {
    deviceToken,
    deviceEncryptionKey,
    origin,
  }: { deviceToken: string; deviceEncryptionKey: string; origin?: string },
): Promise<Device> {
  const device = await readDeviceToken(ctx, deviceToken)
  const scope = scopeOf(ctx, device)
  await requireAllowedOrigin(scope, origin)
  await requireActiveDevice(scope, device, deviceEncryptionKey)
  return device
}

/** The scope of work for the entity of a device. */
export const scopeOf = (ctx: Ctx, { entity, tokenId }: Device): Ctx => ({
  ...ctx,
  entity,
  actor: `device:${tokenId}`,
})
