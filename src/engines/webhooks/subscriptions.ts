import type { Ctx, EngineCtx } from '#engines/ctx'
import { ApiError, invalid, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import { isSameText } from '#lib/same-text'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { type LinkPurpose, linkTokensOf } from './envelope.ts'
import { endDeliveries, insertConfirmations } from './store/deliveries.ts'
import {
  type Detail,
  type DetailRow,
  type DetailStatus,
  expireDetails,
  findSubscription,
  insertSubscription,
  listSubscriptions,
  lockDetail,
  lockSubscriptions,
  type Periods,
  type Region,
  removeDead,
  removeSubscription,
  type Subscription,
  setDetailStatus,
} from './store/subscriptions.ts'

const regions: readonly Region[] = ['us-east-1', 'us-west-2']

/** Maximum subscriptions of an entity; those whose regions are all deleted do not count. */
const subscriptionsMax = { TEST: 3, LIVE: 1 } as const

const hourMs = 3_600_000
/** Time after which an unconfirmed region counts as deleted, and a subscription whose regions are all deleted is removed. */
const pendingMs: Periods = { TEST: 30 * 24 * hourMs, LIVE: 72 * hourMs }

const isAlive = ({ details }: Subscription) => details.some(({ status }) => status !== 'deleted')

/**
 * Subscribes an endpoint to all events of the entity, effective once one or both of its regions are confirmed. An endpoint
 * that is subscribed already is asked again to confirm its pending regions. Throws when there are too many.
 */
export async function subscribe(ctx: Ctx, endpoint: string): Promise<Subscription> {
  const { db, entity, actor, requestId } = ctx
  await lockSubscriptions(db, entity.id)
  const alive = (await listSubscriptions(db, entity.id)).filter(isAlive)
  const nowMs = ctx.clock.nowMs()
  const at = formatInstant(nowMs)
  const before = alive.find((each) => each.endpoint === endpoint)
  const max = subscriptionsMax[entity.environment]
  if (!before && alive.length >= max)
    throw new ApiError(
      'subscriptionLimitReached',
      `There are ${max} subscriptions already: delete one first.`,
    )
  const subscription: Subscription = before ?? {
    entityId: entity.id,
    id: newId(nowMs),
    endpoint,
    baseUrl: ctx.config.publicUrl ?? '',
    environment: entity.environment,
    details: regions.map((region): Detail => ({ id: newId(nowMs), region, status: 'pending' })),
    droppedCount: 0,
    droppedDate: null,
  }
  if (!before) {
    const pendingUntil = formatInstant(nowMs + pendingMs[entity.environment])
    await insertSubscription(db, subscription, { at, pendingUntil })
    const change = { entityId: entity.id, actor, requestId, resourceId: subscription.id }
    await recordChanges(db, nowMs, [{ ...change, type: 'subscription.created', data: { endpoint } }])
  }
  const pending = subscription.details.filter(({ status }) => status === 'pending')
  const asked = pending.map(({ id }) => ({
    entityId: entity.id,
    subscriptionId: subscription.id,
    id,
    messageId: newId(nowMs),
  }))
  await insertConfirmations(db, asked, at)
  return subscription
}

/** Ends a subscription and drops its waiting deliveries. Throws while a region is still to be confirmed. */
export async function deleteSubscription(ctx: Ctx, id: string): Promise<void> {
  const { db, entity, actor, requestId } = ctx
  await lockSubscriptions(db, entity.id)
  const subscription = await findSubscription(db, entity.id, id)
  if (!subscription) throw notFound('subscription', id, 'subscriptionNotFound')
  if (subscription.details.some(({ status }) => status === 'pending'))
    throw new ApiError('subscriptionPending')
  const nowMs = ctx.clock.nowMs()
  const at = formatInstant(nowMs)
  await removeSubscription(db, entity.id, id, at)
  await endDeliveries(db, entity.id, id, 'dropped', at)
  const change = { entityId: entity.id, actor, requestId, resourceId: id }
  await recordChanges(db, nowMs, [{ ...change, type: 'subscription.deleted' }])
}

/** Confirms the region that the token was sent for. Idempotent. */
export const confirmRegion = (ctx: Ctx, token: string): Promise<DetailRow> =>
  follow(ctx, token, 'confirm', (status) => (status === 'pending' ? 'confirmed' : status))

/** Ends the region that the token was sent with. */
export const unsubscribe = (ctx: Ctx, token: string): Promise<DetailRow> =>
  follow(ctx, token, 'unsubscribe', () => 'deleted')

async function follow(
  ctx: Ctx,
  token: string,
  purpose: LinkPurpose,
  next: (status: DetailStatus) => DetailStatus,
): Promise<DetailRow> {
  const detail = await detailOf(ctx, token, purpose)
  const status = next(detail.status)
  if (purpose === 'confirm' && status === 'deleted') throw linkInvalid()
  if (status === detail.status) return detail
  const nowMs = ctx.clock.nowMs()
  const removalDate = formatInstant(nowMs + pendingMs[detail.environment])
  await setDetailStatus(ctx.db, detail, { status, at: formatInstant(nowMs), removalDate })
  await recordChanges(ctx.db, nowMs, [
    {
      entityId: detail.entityId,
      actor: 'endpoint',
      requestId: ctx.requestId,
      type: `subscription.${status === 'confirmed' ? 'confirmed' : 'unsubscribed'}`,
      resourceId: detail.subscriptionId,
      data: { region: detail.region },
    },
  ])
  return { ...detail, status }
}

/** Resolves a token: the leading id finds the region; the rest proves that this installation made it for this purpose. */
async function detailOf(
  { db, custody }: { db: Db } & Pick<Ctx, 'custody'>,
  token: string,
  purpose: LinkPurpose,
) {
  const [, a, b, c, d, e] =
    /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})[\da-f]{64}$/.exec(token) ?? []
  if (e === undefined) throw linkInvalid()
  const id = [a, b, c, d, e].join('-')
  const expected = linkTokensOf(custody.notary, purpose, id)
  if (!expected.some((each) => isSameText(token, each))) throw linkInvalid()
  const detail = await lockDetail(db, id)
  if (!detail) throw linkInvalid()
  return detail
}

/** The error omits the token: in a response it could reach a log, and it may still be valid for the other purpose. */
const linkInvalid = () =>
  invalid({ at: 'Token', reason: 'matches no valid link', kind: 'subscriptionLinkInvalid' })

const batchMax = 20

/** Ends unconfirmed regions and dead subscriptions. True when more may be left. */
export async function removeUnconfirmed({ database, clock }: EngineCtx): Promise<boolean> {
  const nowMs = clock.nowMs()
  const at = formatInstant(nowMs)
  const expired = await database.tx((tx) => expireDetails(tx, at, pendingMs, batchMax))
  const removed = await database.tx((tx) => removeDead(tx, at, batchMax))
  return Math.max(expired, removed) === batchMax
}
