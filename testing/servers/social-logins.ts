import { randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { oncePer } from '#runtime/scheduling/memoize'
import type { SocialProviderName } from '#runtime/social/types'
import type { World } from '#testing/builders/world'
import type { Harness } from '#testing/platform/harness'
import { type OpenIdProvider, openOpenIdProvider } from './openid-provider.ts'

/** The client id of an entity's app at every provider. */
export const clientIdOf = ({ tenant }: World) => `app-of-${tenant.entityId}`

/** Opens a provider of OpenID Connect for a harness. */
export async function openProviderFor({ clock, atClose }: Harness): Promise<OpenIdProvider> {
  const provider = await openOpenIdProvider(clock.nowMs)
  atClose(provider.close)
  return provider
}

/** Lets the users of an entity log in by a provider, under this name. */
export const useProvider = (world: World, issuer: string, provider: SocialProviderName) =>
  void world.harness.ctx.config.socialProviders.push({
    entityId: world.tenant.entityId,
    provider,
    issuer,
    clientIds: [clientIdOf(world)],
  })

const providerIn = oncePer(openProviderFor)

/** The provider of a world, which its entity uses under the name Google. */
export const socialProviderOf = oncePer(async (world: World) => {
  const provider = await providerIn(world.harness)
  useProvider(world, provider.issuer, 'Google')
  return provider
})

export type SentIdentity = {
  deviceId: string
  deviceToken: string
  deviceEncryptionKey: string
  provider: SocialProviderName
  token: string
}

/** A fresh device of the entity's app. */
export async function newDevice(world: World, deviceId: string = randomUUID()) {
  const body = { idempotencyKey: randomUUID(), deviceId }
  const made = await world.call('POST', '/v1/w3s/users/social/token', body)
  return { deviceId, ...made } as Omit<SentIdentity, 'provider' | 'token'>
}

/** A login that was begun, with what a page sends to complete it. */
export async function sentIdentity(world: World, claims: JWTPayload = {}): Promise<SentIdentity> {
  const provider = await socialProviderOf(world)
  const device = await newDevice(world)
  const token = await provider.idToken({ sub: randomUUID(), aud: clientIdOf(world), ...claims })
  return { ...device, provider: 'Google', token }
}
