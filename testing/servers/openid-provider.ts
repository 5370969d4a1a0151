import { createHash, randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { type Behaviour, openReceiver, type Received } from './receiver.ts'

export type Algorithm = 'ES256' | 'RS256'
type Pair = { kid: string; alg: Algorithm; privateKey: CryptoKey; jwk: JWK }

/** A provider of OpenID Connect on this machine, as its clients see it over the network. */
export type OpenIdProvider = {
  issuer: string
  /** What it was asked, by path. */
  asked(path: string): number
  /** An ID token with the newest key, of one minute. Claims and members of the header replace the usual ones. */
  idToken(
    claims: JWTPayload,
    header?: { alg?: Algorithm; kid?: string | undefined; typ?: string },
  ): Promise<string>
  /** Signs with new keys from now on; the former ones are withdrawn. */
  rotate(): Promise<void>
  /** The published keys. */
  keys(): JWK[]
  /** Answers requests like this from now on; without an argument as a provider does. */
  behave(behaviour?: Behaviour): void
  /** Who logs in from now on: claims that replace those of the usual person. */
  signsIn(claims: JWTPayload): void
  /** Replaces members of the discovery document. */
  describe(members: Record<string, unknown>): void
  close(): Promise<void>
}

/** Who logs in at the page of the provider. */
const person = { sub: 'person', name: 'Ada L.', email: 'ada@example.com', email_verified: true }

export async function openOpenIdProvider(nowMs: () => number): Promise<OpenIdProvider> {
  let pairs = await newPairs()
  let described: Record<string, unknown> = {}
  let claimed: JWTPayload = {}
  /** The codes that were given and not yet used, with what was asked for them. */
  const codes = new Map<string, Record<string, string>>()
  const receiver = await openReceiver(async () => undefined, { unref: true })
  const issuer = new URL(receiver.url).origin
  const idToken: OpenIdProvider['idToken'] = (claims, header = {}) => {
    const { alg = 'ES256', ...rest } = header
    const pair = pairs.find((each) => each.alg === alg)!
    const iat = Math.floor(nowMs() / 1_000)
    return new SignJWT({ iss: issuer, iat, exp: iat + 60, jti: randomUUID(), ...claims })
      .setProtectedHeader({ alg, kid: pair.kid, ...rest } as { alg: string })
      .sign(pair.privateKey)
  }
  const keys = () => pairs.map(({ jwk }) => jwk)
  const respond = async ({ path, body }: Received, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(path, issuer)
    if (pathname === '/.well-known/openid-configuration')
      return send(response, { ...documentOf(issuer), ...described })
    if (pathname === '/keys') return send(response, { keys: keys() })
    if (pathname === '/token') {
      const form = Object.fromEntries(new URLSearchParams(body))
      const asked = codes.get(form['code'] ?? '')
      codes.delete(form['code'] ?? '')
      if (!asked || !isGoodTrade(asked, form)) return send(response, { error: 'invalid_grant' }, 400)
      const { client_id, nonce } = asked
      return send(response, { id_token: await idToken({ ...person, aud: client_id!, nonce, ...claimed }) })
    }
    if (pathname !== '/authorize') return response.writeHead(404).end()
    const asked = Object.fromEntries(searchParams)
    if (asked['response_type'] === 'code') {
      const code = randomUUID()
      codes.set(code, asked)
      const answer = new URLSearchParams({ code, state: asked['state'] ?? '' })
      return response.writeHead(302, { Location: `${asked['redirect_uri']}?${answer}` }).end()
    }
    const token = await idToken({ ...person, aud: asked['client_id']!, nonce: asked['nonce'] })
    const hash = new URLSearchParams({ state: asked['state'] ?? '', id_token: token })
    return response.writeHead(302, { Location: `${asked['redirect_uri']}#${hash}` }).end()
  }
  const behave = (behaviour?: Behaviour) =>
    receiver.behave((received, response) => {
      const well = () => void respond(received, response)
      if (behaviour) behaviour(received, response, well)
      else well()
    })
  behave()
  return {
    issuer,
    asked: (path) => receiver.received.filter((each) => each.path === path).length,
    idToken,
    rotate: async () => {
      pairs = await newPairs()
    },
    keys,
    behave,
    signsIn: (claims) => {
      claimed = claims
    },
    describe: (members) => {
      described = members
    },
    close: receiver.close,
  }
}

/** The secret of every app that is registered here. */
export const appSecret = 'the secret of the app'

/** Whether a code is traded for a token by the app that asked for it, with the secret and the verifier (RFC 7636) of its own. */
const isGoodTrade = (asked: Record<string, string>, form: Record<string, string>) =>
  form['client_id'] === asked['client_id'] &&
  form['client_secret'] === appSecret &&
  form['redirect_uri'] === asked['redirect_uri'] &&
  createHash('sha256')
    .update(form['code_verifier'] ?? '')
    .digest('base64url') === asked['code_challenge']

const documentOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256', 'ES256'],
})

const newPairs = (): Promise<Pair[]> =>
  Promise.all(
    (['ES256', 'RS256'] as const).map(async (alg) => {
      const kid = randomUUID()
      const { privateKey, publicKey } = await generateKeyPair(alg)
      return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
    }),
  )

export const send = (response: ServerResponse, body: object, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
