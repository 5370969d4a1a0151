import { randomUUID } from 'node:crypto'
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
  /** Replaces members of the discovery document. */
  describe(members: Record<string, unknown>): void
  close(): Promise<void>
}

/** Who logs in at the page of the provider. */
const person = { sub: 'person', name: 'Ada L.', email: 'ada@example.com', email_verified: true }

export async function openOpenIdProvider(nowMs: () => number): Promise<OpenIdProvider> {
  let pairs = await newPairs()
  let described: Record<string, unknown> = {}
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
  const respond = async ({ path }: Received, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(path, issuer)
    if (pathname === '/.well-known/openid-configuration')
      return send(response, { ...documentOf(issuer), ...described })
    if (pathname === '/keys') return send(response, { keys: keys() })
    if (pathname !== '/authorize') return response.writeHead(404).end()
    const asked = Object.fromEntries(searchParams)
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
    describe: (members) => {
      described = members
    },
    close: receiver.close,
  }
}

const documentOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
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
