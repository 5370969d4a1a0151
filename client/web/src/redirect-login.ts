import type { LoginConfigs } from './types.ts'
import { SocialLoginProvider } from './values.ts'

/** What a provider gave to the app: an ID token, or the access token of Facebook. */
export type ProviderToken = { provider: SocialLoginProvider; token: string }

/** A login that cannot begin, or whose answer does not count. */
export class LoginFailed extends Error {}

const names = { provider: 'socialLoginProvider', state: 'state', nonce: 'nonce' } as const

const endpoints: Record<SocialLoginProvider, string> = {
  Google: 'https://accounts.google.com/o/oauth2/v2/auth',
  Facebook: 'https://www.facebook.com/v23.0/dialog/oauth',
  Apple: 'https://appleid.apple.com/auth/authorize',
}

/** Remembers what the answer has to repeat, and returns the address at which the user logs in. */
export function beginRedirect(provider: SocialLoginProvider, configs: LoginConfigs | undefined): string {
  const [state, nonce] = [randomText(), randomText()]
  const { authorizationUrl = endpoints[provider], ...query } = queryOf(provider, configs, nonce)
  const url = new URL(authorizationUrl)
  for (const [name, value] of Object.entries({ ...query, state })) url.searchParams.set(name, value)
  localStorage.setItem(names.provider, provider)
  localStorage.setItem(names.state, state)
  localStorage.setItem(names.nonce, nonce)
  return url.href
}

type RedirectQuery = { authorizationUrl?: string } & Record<string, string>

function queryOf(
  provider: SocialLoginProvider,
  configs: LoginConfigs | undefined,
  nonce: string,
): RedirectQuery {
  const { google, facebook, apple } = configs ?? {}
  if (provider === SocialLoginProvider.GOOGLE && google) {
    const { clientId, redirectUri, selectAccountPrompt, authorizationUrl } = google
    return {
      client_id: clientId,
      redirect_uri: redirectUri,
      nonce,
      response_type: 'id_token',
      scope: 'openid email profile',
      ...(selectAccountPrompt && { prompt: 'select_account' }),
      ...(authorizationUrl && { authorizationUrl }),
    }
  }
  if (provider === SocialLoginProvider.FACEBOOK && facebook) {
    const { appId, redirectUri, authorizationUrl } = facebook
    return {
      client_id: appId,
      redirect_uri: redirectUri,
      response_type: 'token',
      scope: 'email',
      ...(authorizationUrl && { authorizationUrl }),
    }
  }
  if (provider === SocialLoginProvider.APPLE && apple?.clientId && apple.redirectUri) {
    const { clientId, redirectUri, authorizationUrl } = apple
    return {
      client_id: clientId,
      redirect_uri: redirectUri,
      nonce,
      // Apple answers in the fragment only when no scope is asked for.
      response_type: 'code id_token',
      response_mode: 'fragment',
      ...(authorizationUrl && { authorizationUrl }),
    }
  }
  if (provider === SocialLoginProvider.APPLE && apple)
    throw new LoginFailed('Apple needs clientId and redirectUri: this client does not use Firebase')
  throw new LoginFailed(`loginConfigs has nothing for ${provider}`)
}

/** Takes the answer of a provider out of the address of the page, once; undefined where it has none. */
export function takeRedirect(): ProviderToken | undefined {
  const provider = localStorage.getItem(names.provider) as SocialLoginProvider | ''
  const answer = new URLSearchParams(location.hash.slice(1))
  if (!provider || !answer.has('state')) return undefined
  const [state, nonce] = [localStorage.getItem(names.state), localStorage.getItem(names.nonce)]
  for (const name of Object.values(names)) localStorage.removeItem(name)
  history.replaceState(history.state, '', location.pathname + location.search)
  if (!state || answer.get('state') !== state) throw new LoginFailed('This page did not begin the login')
  const problem = answer.get('error')
  if (problem !== null) throw new LoginFailed(`${provider} refused the login: ${problem}`)
  const isFacebook = provider === SocialLoginProvider.FACEBOOK
  const token = answer.get(isFacebook ? 'access_token' : 'id_token')
  if (!token) throw new LoginFailed(`${provider} answered without a token`)
  if (!isFacebook && (!nonce || nonceOf(token) !== nonce))
    throw new LoginFailed(`The token of ${provider} is not of this login`)
  return { provider, token }
}

/** The nonce in an ID token, whose signature the server verifies. */
function nonceOf(token: string): unknown {
  try {
    const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')
    return (JSON.parse(atob(payload)) as { nonce?: unknown }).nonce
  } catch {
    return undefined
  }
}

const randomText = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
