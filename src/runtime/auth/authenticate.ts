import { timingSafeEqual } from 'node:crypto'
import { isInRanges } from '#lib/address-ranges'
import { ApiError } from '#lib/errors'
import { parseInstant } from '#lib/time'
import type { Caller, KeyScope, Scope } from '#runtime/scope'
import { prefixOf, readKeyText } from './key-text.ts'
import { createLookup } from './lookup.ts'
import { type ApiKey, findApiKeys, hashSecret, touchApiKey } from './store.ts'

/** Cache time of a verified key: the longest that a revoked key can still work. */
const trustMs = 1_000
const verifiedMax = 10_000

/** The start of each class of keys. */
const prefixPattern = /^(TEST|LIVE)_(API|CLIENT)_KEY$/

/** Whether the last use that was noted is a minute old, or lies ahead of a clock that was set back. */
const isStale = ({ usedDate }: ApiKey, nowMs: number): boolean =>
  usedDate === null || Math.abs(nowMs - parseInstant(usedDate)!) > 60_000

/** Refuses a key that has expired, or that is used from an address outside of its list. */
function requireLimits({ expireDate, allowedAddresses }: ApiKey, address: string, nowMs: number): void {
  if (expireDate !== null && parseInstant(expireDate)! <= nowMs)
    throw new ApiError(
      'keyExpired',
      `The API key expired at ${expireDate}: make another one with bezant keys create.`,
    )
  if (allowedAddresses && !isInRanges(address, allowedAddresses))
    throw new ApiError(
      'keyElsewhere',
      `Forbidden: the API key may not be used from ${address}. Use it from an address of its list, or, behind a proxy, name the proxy in BEZANT_PROXIES.`,
    )
}

/** The holder of a valid key, with the key's scopes. */
export type KeyHolder = Omit<Caller, 'requestId'> & { scopes: readonly KeyScope[] }

/** Checks the header of a request that came from an address. */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<KeyHolder>

/**
 * Checks `Authorization: Bearer PREFIX:ID:SECRET`, or its base64 form. Every refusal is identical and carries the message `refusal`,
 * except for a key without a known prefix, which has its own documented code, and for the limits of a key, which its holder is
 * told.
 */
export function createAuthenticate(
  { database, clock, config }: Pick<Scope, 'database' | 'clock' | 'config'>,
  refusal?: string,
): Authenticate {
  const lookUp = createLookup((ids) => findApiKeys(database.reading, ids))
  /** Caches only keys presented with the right secret, so that invalid keys evict nothing. */
  const verified = new Map<string, { key: ApiKey; untilMs: number }>()

  const keyOf = async (id: string): Promise<ApiKey | undefined> => {
    const kept = verified.get(id)
    if (kept && kept.untilMs > performance.now()) return kept.key
    const key = await lookUp(id, kept !== undefined)
    if (!key) verified.delete(id)
    return key
  }

  const keep = (key: ApiKey) => {
    if (verified.get(key.id)?.key === key) return
    if (verified.size >= verifiedMax) verified.delete(verified.keys().next().value!)
    verified.set(key.id, { key, untilMs: performance.now() + trustMs })
  }

  return async (authorization, address) => {
    const text = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (!text || text.length > 512) throw new ApiError('unauthorized', refusal)
    const given = readKeyText(text)
    if (!given) throw new ApiError('unauthorized', refusal)
    const { prefix, id, secret } = given
    if (!prefixPattern.test(prefix)) throw new ApiError('keyWithoutPrefix')
    const key = id === undefined ? undefined : await keyOf(id)
    const matches = timingSafeEqual(hashSecret(secret), key?.secretHash ?? hashSecret(''))
    if (!key || !matches || prefix !== prefixOf(key)) throw new ApiError('unauthorized', refusal)
    if (key.entityId === config.refusedEntityId) throw new ApiError('unauthorized', refusal)
    const nowMs = clock.nowMs()
    requireLimits(key, address, nowMs)
    const isRead = verified.get(key.id)?.key !== key
    keep(key)
    // A use that cannot be noted, as while the primary is away, is a use still.
    if (isRead && isStale(key, nowMs)) void touchApiKey(database, key, address, nowMs).catch(() => undefined)
    return {
      entity: { id: key.entityId, environment: key.environment, appId: key.appId },
      actor: `key:${key.id}`,
      scopes: key.scopes,
    }
  }
}
