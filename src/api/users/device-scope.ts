import { requireAllowedOrigin } from '#api/allowed-origin'
import type { Ctx } from '#engines/ctx'
import { type Device, readDeviceToken, requireActiveDevice } from '#identity/index'
import { invalid } from '#lib/errors'

export function requireDeviceId(text: string): string {
  if (/^[\w.:-]+$/.test(text)) return text
  const reason = 'must be letters, digits and the characters - _ . : as the page tells it'
  throw invalid({ at: 'deviceId', reason, value: text, kind: 'deviceIdInvalid' })
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
