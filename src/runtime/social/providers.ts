import { isUuid } from '#lib/ids'
import { parseListSetting } from '../list-setting.ts'
import { parseTarget } from '../outbound/target.ts'
import {
  type SignInProvider,
  type SocialProvider,
  type SocialProviderName,
  socialProviderNames,
} from './types.ts'

const issuers: Record<SocialProviderName, string> = {
  Google: 'https://accounts.google.com',
  Facebook: 'https://graph.facebook.com',
  Apple: 'https://appleid.apple.com',
}

const setting = 'BEZANT_SOCIAL_PROVIDERS'
const example = '[{"entity":"ENTITY-ID","provider":"Google","clientIds":["CLIENT-ID"]}]'
const idsMax = 32

/** Reads `BEZANT_SOCIAL_PROVIDERS`. Messages contain no secret. */
export function parseSocialProviders(text: string | undefined): SocialProvider[] {
  const providers = parseListSetting(text, { name: setting, example }).map(providerOf)
  for (const [index, each] of providers.entries())
    for (const other of providers.slice(0, index)) requireApart(each, other)
  return providers
}

const signInSetting = 'BEZANT_SIGN_IN_PROVIDER'
const signInExample = '[{"issuer":"https://id.example","clientId":"CLIENT-ID","clientSecret":"SECRET"}]'

/** Reads `BEZANT_SIGN_IN_PROVIDER`, a list of one. Messages contain no secret. */
export function parseSignInProvider(text: string | undefined): SignInProvider | undefined {
  const about = { name: signInSetting, example: signInExample, list: 'a list of one' }
  const [item] = parseListSetting(text, about, 1)
  if (item === undefined) return undefined
  const { issuer, clientId, clientSecret, ...rest } = (item ?? {}) as Record<string, unknown>
  const wrong = (what: string) => new Error(`${signInSetting}: ${what}, as in ${signInExample}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw wrong(`there is no setting "${unknown}"`)
  if (!isIssuer(issuer)) throw wrong('issuer must be an address such as https://id.example')
  if (!isId(clientId) || !isId(clientSecret)) throw wrong('the provider needs a clientId and a clientSecret')
  return { issuer, clientId, clientSecret }
}

function providerOf(item: unknown): SocialProvider {
  const { entity, provider, issuer, clientIds, appSecret, ...rest } = (item ?? {}) as Record<string, unknown>
  const wrong = (what: string) => new Error(`${setting}: ${what}, as in ${example}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw wrong(`there is no setting "${unknown}"`)
  if (!isUuid(entity)) throw wrong('each provider needs the id of its entity')
  if (!isProvider(provider)) throw wrong(`provider must be one of ${socialProviderNames.join(', ')}`)
  if (issuer !== undefined && !isIssuer(issuer))
    throw wrong('issuer must be an address such as https://id.example')
  if (
    !Array.isArray(clientIds) ||
    clientIds.length === 0 ||
    clientIds.length > idsMax ||
    !clientIds.every(isId)
  )
    throw wrong(`clientIds must be a list of 1 to ${idsMax} ids`)
  if (provider === 'Facebook' ? !isId(appSecret) || clientIds.length > 1 : appSecret !== undefined)
    throw wrong('Facebook, and no other, needs an appSecret, and the one id that it belongs to')
  return {
    entityId: entity,
    provider,
    issuer: issuer ?? issuers[provider],
    clientIds,
    ...(isId(appSecret) && { appSecret }),
  }
}

/** A client id of two entities would let the users of one log in to the other. */
function requireApart(one: SocialProvider, other: SocialProvider): void {
  if (one.entityId === other.entityId && one.provider === other.provider)
    throw new Error(`${setting} names ${one.provider} twice for one entity: list all its clientIds in one`)
  const both =
    one.issuer === other.issuer ? one.clientIds.find((id) => other.clientIds.includes(id)) : undefined
  if (both !== undefined)
    throw new Error(`${setting} names the client id ${both} twice: it belongs to one entity`)
}

const isProvider = (value: unknown): value is SocialProviderName =>
  (socialProviderNames as readonly unknown[]).includes(value)

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 512

function isIssuer(value: unknown): value is string {
  if (typeof value !== 'string') return false
  try {
    const { search, hash } = parseTarget(value)
    return search === '' && hash === ''
  } catch {
    return false
  }
}
