import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { askJson, ProviderAway } from './ask-json.ts'

/** Keys are read anew after this time, because a provider withdraws those that it does not trust any more. */
const freshMs = 10 * 60_000
/** A key id that is not known makes them be read anew no more often than this. */
const againMs = 30_000

type ReadKeys = { keys: ReturnType<typeof createLocalJWKSet>; atMs: number }

/**
 * The public keys of an issuer, by OpenID Connect discovery. Requests at once share one reading. Throws ProviderAway when they
 * cannot be read, and errors of JOSE when none fits.
 */
export function openIssuerKeys(issuer: string, clock: { nowMs(): number }): JWTVerifyGetKey {
  let kept: ReadKeys | undefined
  let reading: Promise<ReadKeys> | undefined
  const read = () => {
    reading ??= readKeys(issuer)
      .then((keys) => (kept = { keys, atMs: clock.nowMs() }))
      .finally(() => (reading = undefined))
    return reading
  }
  const isOlder = ({ atMs }: ReadKeys, ms: number) => Math.abs(clock.nowMs() - atMs) >= ms
  return async (header, token) => {
    const known = kept && !isOlder(kept, freshMs) ? kept : await read()
    try {
      return await known.keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isOlder(known, againMs)) throw error
      return (await read()).keys(header, token)
    }
  }
}

/** The document in which an issuer names its addresses. */
export async function readDiscovery(issuer: string): Promise<Record<string, unknown>> {
  const base = issuer.replace(/\/$/, '')
  const document = await askWell(`${base}/.well-known/openid-configuration`, 'private')
  if (document['issuer'] === issuer) return document
  throw new ProviderAway('names another issuer in its discovery document')
}

async function readKeys(issuer: string) {
  const document = await readDiscovery(issuer)
  const address = document['jwks_uri']
  if (typeof address !== 'string') throw new ProviderAway('names no jwks_uri in its discovery document')
  try {
    return createLocalJWKSet(
      (await askWell(address, reachOfKeys(issuer, address))) as unknown as JSONWebKeySet,
    )
  } catch (error) {
    throw error instanceof errors.JOSEError ? new ProviderAway('answered without a set of keys') : error
  }
}

/** The operator chooses the issuer. Its document must not lead to another server of the operator's network. */
const reachOfKeys = (issuer: string, address: string) =>
  URL.canParse(address) && new URL(address).origin === new URL(issuer).origin ? 'private' : 'public'

async function askWell(url: string, targets: 'public' | 'private'): Promise<Record<string, unknown>> {
  const { status, body } = await askJson(url, targets)
  if (status !== 200) throw new ProviderAway(`answered with the status ${status}`)
  return body
}
