import type { Ctx } from '#engines/ctx'
import {
  beginSession,
  openTokenKey,
  type SigningKey,
  useDeviceToken,
  useIdToken,
  userOfIdentity,
} from '#identity/index'
import { readIdentity, requireSocialProviders } from '#runtime/social/identity'
import type { SocialIdentity, SocialProviderName } from '#runtime/social/types'
import { createDeviceToken, openDevice, scopeOf } from './device-scope.ts'

/** Begins a login: a token for the device. */
export async function createSocialToken(
  ctx: Ctx,
  input: { body: { deviceId: string } },
  signingKey: SigningKey,
) {
  requireSocialProviders(ctx.config, ctx.entity.id)
  return createDeviceToken(ctx, input, signingKey)
}

type BroughtToken = {
  deviceToken: string
  deviceEncryptionKey: string
  provider: SocialProviderName
  token: string
  origin?: string
}

/** Checks what a page brings from a provider, which is asked for its keys outside any `tx`. */
export async function checkSocialIdentity(ctx: Ctx, { body }: { body: BroughtToken }) {
  const device = await openDevice(ctx, body)
  const identity = await readIdentity(ctx, device.entity.id, body)
  return { device, identity, signingKey: await openTokenKey(ctx) }
}

/** Begins the session of the user whose identity was proved. */
export async function logInBySocial(
  ctx: Ctx,
  { body }: { body: BroughtToken },
  { device, identity, signingKey }: Awaited<ReturnType<typeof checkSocialIdentity>>,
) {
  const scope = scopeOf(ctx, device)
  await useDeviceToken(scope, device)
  if (identity.used) await useIdToken(scope, identity.used)
  const user = await userOfIdentity(scope, identity)
  const session = await beginSession(scope, user, device.deviceId, signingKey)
  return { ...session, oAuthInfo: showIdentity(body.provider, identity) }
}

const showIdentity = (provider: SocialProviderName, { subject, email, name, phone }: SocialIdentity) => ({
  provider,
  socialUserUUID: subject,
  socialUserInfo: { ...(email && { email }), ...(name && { name }), ...(phone && { phone }) },
})
