import { createHash, createHmac } from 'node:crypto'
import { decodeJwt, errors, type JWTVerifyGetKey } from 'jose'
import { isSameText } from '#lib/same-text'
import { askJson, ProviderAway } from './ask-json.ts'
import { readIdToken } from './id-token.ts'
import { openIssuerKeys, readDiscovery } from './issuer-keys.ts'
import type { SignInProvider } from './types.ts'

/** A person as the provider named them: by an address that it has verified, and by how they proved themselves. */
export type ProvenPerson = { email: string | undefined; methods: readonly string[] }

/** The answer of a provider proves nothing: it is of another sign-in, or no token of it is valid. */
export class SignInUnproven extends Error {}

/**
 * The authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect Core 3.1). `kept` is a secret of one sign-in, which the
 * browser keeps in a cookie; the state, the nonce and the verifier follow from it, so that the server keeps nothing.
 */
type CodeFlow = {
  /** The address of the provider to send the browser to. */
  begin(kept: string, redirectUri: string): Promise<string>
  /** Throws SignInUnproven, and ProviderAway. */
  finish(kept: string, redirectUri: string, answer: { code: string; state: string }): Promise<ProvenPerson>
}

export function openCodeFlow(provider: SignInProvider, clock: { nowMs(): number }): CodeFlow {
  const { issuer, clientId, clientSecret } = provider
  const keys: JWTVerifyGetKey = openIssuerKeys(issuer, clock)
  const endpointOf = async (name: 'authorization_endpoint' | 'token_endpoint') => {
    const address = (await readDiscovery(issuer))[name]
    if (typeof address === 'string' && URL.canParse(address)) return address
    throw new ProviderAway(`names no ${name} in its discovery document`)
  }
  return {
    async begin(kept, redirectUri) {
      const url = new URL(await endpointOf('authorization_endpoint'))
      const query = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: partOf(kept, 'state'),
        nonce: partOf(kept, 'nonce'),
        code_challenge: createHash('sha256').update(partOf(kept, 'verifier')).digest('base64url'),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      return url.href
    },
    async finish(kept, redirectUri, { code, state }) {
      if (!isSameText(state, partOf(kept, 'state')))
        throw new SignInUnproven('the answer is of another sign-in')
      const { status, body } = await askJson(await endpointOf('token_endpoint'), 'private', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: partOf(kept, 'verifier'),
        client_id: clientId,
        client_secret: clientSecret,
      })
      const token = body['id_token']
      if (status !== 200 || typeof token !== 'string')
        throw new SignInUnproven(`the provider gave no token for the code, and answered ${status}`)
      const app = { issuer, clientIds: [clientId] }
      const { email } = await readIdToken(app, token, keys, clock.nowMs()).catch((error) => {
        throw error instanceof errors.JOSEError ? new SignInUnproven(error.message) : error
      })
      const { nonce, amr } = decodeJwt(token)
      if (!isSameText(String(nonce), partOf(kept, 'nonce')))
        throw new SignInUnproven('the token is of another sign-in')
      return { email, methods: Array.isArray(amr) ? amr.map(String) : [] }
    },
  }
}

const partOf = (kept: string, part: 'state' | 'nonce' | 'verifier') =>
  createHmac('sha256', kept).update(part).digest('base64url')
