import { ApiError, invalid, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import type { EntityScope } from '#runtime/scope'
import { waitingOfSubscription } from './store/deliveries.ts'
import {
  attemptsOf,
  findNotification,
  findReceiver,
  findReplay,
  insertReplay,
  type LoggedAttempt,
  type LoggedNotification,
  type Replay,
  type ReplayRange,
  requeueOne,
  requeueRange,
} from './store/logged-notifications.ts'
import { backlogMax, wake } from './store/queue.ts'

/** The scope of a request or of an operator's command; `db` is a `tx` where something is sent again. */
type LogScope = Pick<EntityScope, 'db' | 'clock' | 'entity' | 'actor'> & { requestId?: string }

/** Maximum notifications of one replay. */
const replayMax = 10_000

/** A notification with its deliveries and all attempts. */
export async function readNotification(
  ctx: LogScope,
  id: string,
): Promise<LoggedNotification & { attempts: LoggedAttempt[] }> {
  const found = await findNotification(ctx.db, ctx.entity.id, id)
  if (!found) throw notFound('notification', id, 'notificationNotFound')
  return { ...found, attempts: await attemptsOf(ctx.db, ctx.entity.id, id) }
}

/**
 * Queues a notification again under the same id, for one subscription or for all that receive it now. It is attempted at once,
 * also at an endpoint that rests after failures.
 */
export async function resendNotification(
  ctx: LogScope,
  id: string,
  subscriptionId: string | undefined,
): Promise<LoggedNotification> {
  const { db, entity } = ctx
  const found = await findNotification(db, entity.id, id)
  if (!found) throw notFound('notification', id, 'notificationNotFound')
  if (subscriptionId !== undefined) await requireReceiver(ctx, subscriptionId, 'subscriptionId', found.line)
  const at = formatInstant(ctx.clock.nowMs())
  const queued = await requeueOne(db, entity.id, { id, subscriptionId }, at)
  await wakeAll(ctx, queued, { at, despiteRest: true })
  await record(ctx, 'notification.resent', id, { subscriptionIds: queued.map((each) => each.id) })
  return (await findNotification(db, entity.id, id))!
}

/** Queues a range of notifications again for one subscription. Refuses what would exceed the bound of its backlog. */
export async function replayNotifications(
  ctx: LogScope,
  range: Omit<ReplayRange, 'replayId'>,
  max = backlogMax,
): Promise<Replay> {
  const { db, entity } = ctx
  const { subscriptionId } = range
  await requireReceiver(ctx, subscriptionId, 'id')
  const nowMs = ctx.clock.nowMs()
  const at = formatInstant(nowMs)
  const id = newId(nowMs)
  const queued = await requeueRange(db, entity.id, { ...range, replayId: id }, replayMax + 1, at)
  if (queued.length > replayMax)
    throw invalid({
      at: 'from',
      reason: `begins a range of more than ${replayMax} notifications`,
      value: range.from,
      kind: 'replayTooLarge',
    })
  const waiting = await waitingOfSubscription(db, entity.id, subscriptionId, max + 1)
  if (waiting > max)
    throw invalid({
      at: 'from',
      reason: `begins a range of ${queued.length} notifications, with which more than ${max} would wait for the subscription`,
      value: range.from,
      kind: 'replayTooLarge',
    })
  await insertReplay(db, entity.id, { id, subscriptionId, total: queued.length }, at)
  await wakeAll(ctx, queued.slice(0, 1), { at, despiteRest: false })
  await record(ctx, 'subscription.replayed', subscriptionId, { replayId: id, total: queued.length })
  return { id, subscriptionId, total: queued.length, waiting: queued.length, failed: 0 }
}

export async function readReplay(ctx: LogScope, subscriptionId: string, id: string): Promise<Replay> {
  const found = await findReplay(ctx.db, ctx.entity.id, subscriptionId, id)
  if (found) return found
  const [ofSubscription, ofReplay] = [
    notFound('replay', subscriptionId, 'replayNotFound'),
    notFound('replay', id, 'replayNotFound', 'replayId'),
  ]
  throw new ApiError('replayNotFound', ofReplay.message, [...ofSubscription.fields, ...ofReplay.fields])
}

async function requireReceiver(
  { db, entity }: LogScope,
  id: string,
  field: string,
  line?: string,
): Promise<void> {
  const receiver = await findReceiver(db, entity.id, id)
  if (!receiver || (line !== undefined && receiver.line !== line))
    throw notFound('subscription', id, 'subscriptionNotFound', field)
  if (!receiver.isReceiving)
    throw invalid({
      at: field,
      reason: 'is disabled or unconfirmed',
      value: id,
      kind: 'subscriptionReceivesNothing',
    })
}

async function wakeAll(
  { db, entity }: LogScope,
  queued: readonly { id: string }[],
  when: Parameters<typeof wake>[3],
): Promise<void> {
  const ids = queued.map(({ id }) => id)
  if (ids.length > 0) await wake(db, entity.id, ids, when)
}

const record = (
  { db, clock, entity, actor, requestId }: LogScope,
  type: string,
  resourceId: string,
  data: Record<string, unknown>,
) => recordChanges(db, clock.nowMs(), [{ entityId: entity.id, actor, requestId, type, resourceId, data }])
