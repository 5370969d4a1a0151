import { errors } from 'jose'
import { ApiError } from '#lib/errors'
import { oncePer } from '#runtime/scheduling/memoize'
import { createRepeatFilter } from '#runtime/scheduling/repeat-filter'
import type { Config } from '../config.ts'
import { raiseAlarm } from '../log/alarms.ts'
import type { Scope } from '../scope.ts'
import { readAccessToken } from './access-token.ts'
import { ProviderAway } from './ask-json.ts'
import { readIdToken } from './id-token.ts'
import { openIssuerKeys } from './issuer-keys.ts'
import type { SocialIdentity, SocialProvider, SocialProviderName } from './types.ts'

/** The providers of an entity; 155152 when it has none. */
export function requireSocialProviders({ socialProviders }: Config, entityId: string): SocialProvider[] {
  const own = socialProviders.filter((each) => each.entityId === entityId)
  if (own.length === 0) throw new ApiError('socialProvidersMissing')
  return own
}

type SocialScope = Pick<Scope, 'config' | 'clock' | 'log'>

const keysIn = oncePer((_config: Config) => new Map<string, ReturnType<typeof openIssuerKeys>>())
const isFirstReport = oncePer((_config: Config) => createRepeatFilter(60_000))

/**
 * The identity that a token of a provider proves to this entity: outside any `tx`. 155139 when it has expired, 155140 when it is
 * not valid for an app of the entity, 155152 when the entity does not use the provider, and 503 while the provider is away.
 */
export async function readIdentity(
  scope: SocialScope,
  entityId: string,
  { provider: name, token }: { provider: SocialProviderName; token: string },
): Promise<SocialIdentity> {
  const provider = requireSocialProviders(scope.config, entityId).find((each) => each.provider === name)
  if (!provider) throw new ApiError('socialProvidersMissing', `The app has no settings for ${name}.`)
  const read =
    name === 'Facebook'
      ? readAccessToken(provider, token)
      : readIdToken(provider, token, keysOf(scope, provider), scope.clock.nowMs())
  return read.catch((error) => {
    if (error instanceof errors.JWTExpired) throw new ApiError('socialTokenExpired')
    if (error instanceof errors.JOSEError) throw new ApiError('socialTokenInvalid')
    if (!(error instanceof ProviderAway)) throw error
    report(scope, provider, error.message)
    throw new ApiError('unavailable', `${name} does not answer: try again in a moment.`)
  })
}

function keysOf({ config, clock }: SocialScope, { issuer }: SocialProvider) {
  const known = keysIn(config)
  const keys = known.get(issuer) ?? openIssuerKeys(issuer, clock)
  known.set(issuer, keys)
  return keys
}

function report({ config, log }: SocialScope, { issuer, provider }: SocialProvider, said: string): void {
  if (!isFirstReport(config)(`${issuer} ${said}`)) return
  raiseAlarm(log, 'login-provider-away', { provider, issuer, said }, `nobody logs in by ${provider} now`)
}
