import { errors } from 'jose'
import { askJson, ProviderAway } from './ask-json.ts'
import type { SocialIdentity, SocialProvider } from './types.ts'

const expiredSubcode = 463

/**
 * The identity behind an access token of Facebook, which issues no ID tokens to this flow. Its Graph API tells which app the
 * token is of, and then whose it is. Throws errors of JOSE as for ID tokens, and ProviderAway.
 */
export async function readAccessToken(provider: SocialProvider, text: string): Promise<SocialIdentity> {
  const appId = await requireOwnApp(provider, text)
  const { issuer } = provider
  const { body } = await askJson(
    urlOf(issuer, 'me', { fields: 'id,name,email', access_token: text }),
    'private',
  )
  const { id, name, email } = body
  if (typeof id !== 'string' || id === '' || id.length > 255) throw new ProviderAway('names no user')
  const shown = (value: unknown) => (typeof value === 'string' && value.length <= 254 ? value : undefined)
  // An id belongs to a user of one app: the same person has another one in another app.
  return {
    issuer: `${issuer}/${appId}`,
    subject: id,
    name: shown(name),
    email: shown(email),
    phone: undefined,
  }
}

/** The app for which the token was issued; it has to be an app of the entity. */
async function requireOwnApp(
  { issuer, clientIds, appSecret }: SocialProvider,
  text: string,
): Promise<string> {
  const [appId = ''] = clientIds
  const access_token = `${appId}|${appSecret}`
  const { body } = await askJson(urlOf(issuer, 'debug_token', { input_token: text, access_token }), 'private')
  const data = body['data'] as Record<string, unknown> | undefined
  if (typeof data !== 'object' || data === null)
    throw new ProviderAway('inspects no tokens with this appSecret')
  const { is_valid, app_id, error } = data
  if (is_valid === true && app_id === appId) return appId
  const { subcode } = (error ?? {}) as { subcode?: unknown }
  if (app_id === appId && subcode === expiredSubcode)
    throw new errors.JWTExpired('the access token has expired', {})
  throw new errors.JWTInvalid('an access token of another app, or none')
}

const urlOf = (base: string, path: string, query: Record<string, string>) =>
  `${base.replace(/\/$/, '')}/${path}?${new URLSearchParams(query)}`
