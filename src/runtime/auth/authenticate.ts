import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '#lib/errors'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import type { Caller, KeyScope } from '#runtime/scope'
import { prefixOf, readKeyText } from './key-text.ts'
import { createLookup } from './lookup.ts'
import { type ApiKey, findApiKeys, hashSecret } from './store.ts'

/** Cache time of a verified key: the longest that a revoked key can still work. */
const trustMs = 1_000
const verifiedMax = 10_000

/** The start of each class of keys. */
const prefixPattern = /^(TEST|LIVE)_(API|CLIENT)_KEY$/

/** The holder of a valid key, with the key's scopes. */
export type KeyHolder = Omit<Caller, 'requestId'> & { scopes: readonly KeyScope[] }

export type Authenticate = (authorization: string | undefined) => Promise<KeyHolder>

/**
 * Checks `Authorization: Bearer PREFIX:ID:SECRET`, or its base64 form. Every refusal is identical and carries the message `refusal`,
 * except for a key without a known prefix, which has its own documented code.
 */
export function createAuthenticate(db: Db, config: Config, refusal?: string): Authenticate {
  const lookUp = createLookup((ids) => findApiKeys(db, ids))
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

  return async (authorization) => {
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
    keep(key)
    return {
      entity: { id: key.entityId, environment: key.environment, appId: key.appId },
      actor: `key:${key.id}`,
      scopes: key.scopes,
    }
  }
}
