import type { Static } from 'typebox'
import { futureInstantOf } from '#api/future-instant'
import type { Ctx } from '#engines/ctx'
import { isAddressRange, isWithinRanges } from '#lib/address-ranges'
import { ApiError, invalid, notFound } from '#lib/errors'
import { formatInstant, parseInstant } from '#lib/time'
import { apiKeyIdOf } from '#runtime/auth/actor'
import { apiKeysPage, findApiKey, insertApiKey, type ListedKey, revokeOwnKey } from '#runtime/auth/store'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { recordChanges } from '#runtime/record/store'
import { type KeyScope, scopesOfRole } from '#runtime/scope'
import type { apiKeyBody } from './key-schema.ts'
import { presentFields } from './present-fields.ts'

export async function listKeys(ctx: Ctx, page: PageQuery): Promise<ListResult> {
  const found = await apiKeysPage(ctx.db, ctx.entity.id, page)
  return { found, items: found.rows.map((key) => showKey(ctx, key)) }
}

export async function getKey(ctx: Ctx, id: string) {
  const found = await findApiKey(ctx.db, ctx.entity.id, id, { lock: false })
  if (!found) throw notFound('apiKey', id, 'apiKeyNotFound')
  return showKey(ctx, found)
}

/** Creates a key. Its text is in this answer alone: the database has the hash of its secret. */
export async function createKey(ctx: Ctx, body: Static<typeof apiKeyBody>) {
  const { scopes = ['api'] } = body
  const wanted = [...new Set<KeyScope>(scopes)]
  if (wanted.includes('client') && wanted.length > 1)
    throw invalid({
      at: 'scopes',
      reason: 'has client beside others: a client key has no other scope',
      value: scopes,
    })
  const maker = await makerOf(ctx)
  requireScopes(wanted, maker.scopes)
  const limits = limitsOf(ctx, body, maker)
  const { id: entityId, environment } = ctx.entity
  const nowMs = ctx.clock.nowMs()
  const { id, text } = await insertApiKey(ctx.db, { entityId, environment, scopes: wanted, nowMs, ...limits })
  await record(ctx, nowMs, 'apiKey.created', id, { scopes: wanted, ...limits })
  const made = await findApiKey(ctx.db, entityId, id, { lock: false })
  return { ...showKey(ctx, made!), key: text }
}

/** Revokes a key: it stops working within a second. One that is revoked already stays so. */
export async function revokeKey(ctx: Ctx, id: string): Promise<void> {
  if (!(await findApiKey(ctx.db, ctx.entity.id, id, { lock: true })))
    throw notFound('apiKey', id, 'apiKeyNotFound')
  if (id === apiKeyIdOf(ctx.actor)) throw new ApiError('apiKeyInUse')
  const nowMs = ctx.clock.nowMs()
  if (await revokeOwnKey(ctx.db, ctx.entity.id, id, nowMs)) await record(ctx, nowMs, 'apiKey.revoked', id)
}

type KeyLimits = { expireDate?: string; allowedAddresses?: readonly string[] }
type Maker = KeyLimits & { scopes: readonly KeyScope[] }

/** The rights of the member or key of the request, which cannot be revoked before the new key is there. */
async function makerOf(ctx: Ctx): Promise<Maker> {
  if (ctx.member) return { scopes: scopesOfRole[ctx.member.role] }
  const own = await findApiKey(ctx.db, ctx.entity.id, apiKeyIdOf(ctx.actor)!, { lock: true })
  if (!own || own.revokedDate !== null) throw new ApiError('unauthorized')
  const { scopes, expireDate, allowedAddresses } = own
  return { scopes, ...(expireDate && { expireDate }), ...(allowedAddresses && { allowedAddresses }) }
}

/** The limits of a new key: its own, within those of its maker, or else those. */
function limitsOf(
  ctx: Ctx,
  { expireDate: end, allowedAddresses }: Static<typeof apiKeyBody>,
  maker: Maker,
): KeyLimits {
  const endMs = end === undefined ? undefined : futureInstantOf('expireDate', end, ctx.clock)
  if (endMs !== undefined && maker.expireDate && endMs > parseInstant(maker.expireDate)!)
    throw beyondMaker('expireDate', `must be ${maker.expireDate} at the latest`, end)
  for (const [index, range] of (allowedAddresses ?? []).entries()) {
    const at = `allowedAddresses[${index}]`
    if (!isAddressRange(range))
      throw invalid({
        at,
        reason: 'must be an IP address or a network, such as 10.0.0.7 or 10.0.0.0/8',
        value: range,
        error: 'pattern_mismatch',
      })
    if (maker.allowedAddresses && !isWithinRanges(range, maker.allowedAddresses))
      throw beyondMaker(at, `must be a part of ${maker.allowedAddresses.join(', ')}`, range)
  }
  const expireDate = endMs === undefined ? maker.expireDate : formatInstant(endMs)
  const addresses = allowedAddresses ?? maker.allowedAddresses
  return { ...(expireDate && { expireDate }), ...(addresses && { allowedAddresses: addresses }) }
}

const beyondMaker = (at: string, rule: string, value: unknown) =>
  invalid({
    at,
    reason: `${rule}, as the key of the request: use another one, or bezant keys create`,
    value,
    kind: 'apiKeyLimitsExceeded',
  })

/** A client key opens one endpoint for pages of the app, whose whole interface a key of the scope `api` opens. */
function requireScopes(wanted: readonly KeyScope[], own: readonly KeyScope[]): void {
  const missing = wanted
    .map((scope) => (scope === 'client' ? 'api' : scope))
    .find((scope) => !own.includes(scope))
  if (missing === undefined) return
  throw invalid({
    at: 'scopes',
    reason: `needs a request with a key of the scope ${missing}: create it with bezant keys create --scope ${missing}`,
    value: wanted,
    kind: 'apiKeyScopeMissing',
  })
}

const record = (
  { db, entity, actor, requestId }: Ctx,
  nowMs: number,
  type: string,
  resourceId: string,
  data = {},
) => recordChanges(db, nowMs, [{ entityId: entity.id, actor, type, resourceId, data, requestId }])

const showKey = (ctx: Ctx, { id, scopes, createDate, ...rest }: ListedKey) => ({
  id,
  scopes,
  isOwn: id === apiKeyIdOf(ctx.actor),
  createDate,
  ...presentFields(rest),
})
