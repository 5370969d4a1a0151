import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '#lib/errors'
import { isUuid } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import type { Caller } from '#runtime/scope'
import { type ApiKey, findApiKey, hashSecret } from './store.ts'

/** How long a process may trust a key it has read: the longest that a revoked key can still work. */
const trustMs = 1_000
const cachedKeysMax = 10_000

export type Authenticate = (authorization: string | undefined) => Promise<Omit<Caller, 'requestId'>>

/**
 * Checks `Authorization: Bearer PREFIX:ID:SECRET`. Every refusal looks the same, whatever was wrong,
 * except a key without a known prefix, which has its own documented code.
 */
export function createAuthenticate(db: Db): Authenticate {
  const trusted = new Map<string, { key: ApiKey | undefined; untilMs: number }>()

  const keyOf = async (id: string): Promise<ApiKey | undefined> => {
    const cached = trusted.get(id)
    const nowMs = performance.now()
    if (cached && cached.untilMs > nowMs) return cached.key
    const key = await findApiKey(db, id)
    if (trusted.size >= cachedKeysMax) trusted.clear()
    trusted.set(id, { key, untilMs: nowMs + trustMs })
    return key
  }

  return async (authorization) => {
    const text = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (!text || text.length > 512) throw new ApiError('unauthorized')
    const [prefix, id, secret, ...rest] = text.split(':')
    if (secret === undefined || rest.length > 0) throw new ApiError('unauthorized')
    if (prefix !== 'TEST_API_KEY' && prefix !== 'LIVE_API_KEY') throw new ApiError('keyWithoutPrefix')
    const key = isUuid(id) ? await keyOf(id.toLowerCase()) : undefined
    const matches = timingSafeEqual(hashSecret(secret), key?.secretHash ?? hashSecret(''))
    if (!key || !matches || prefix !== `${key.environment}_API_KEY`) throw new ApiError('unauthorized')
    return {
      entity: { id: key.entityId, environment: key.environment, appId: key.appId },
      actor: `key:${key.id}`,
    }
  }
}
