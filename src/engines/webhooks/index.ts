/**
 * Tells endpoints of customers what happened, at least once. Events of subscribed entities are queued in the transaction
 * that records them; one worker at a time turns those of an entity into notifications, whose text stays as it is then.
 * Subscriptions are leased one by one, so that each endpoint has its own pace and hears of a resource in order.
 * Woken by NOTIFY `queued_events` and `notification_deliveries`; any number of workers may run.
 */
import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { logTrouble, repeat } from '#runtime/loop'
import { hearNotices } from '#runtime/notices'
import { type Caller, createCaller } from '#runtime/outbound/call'
import { leaseMs, runLane } from './deliver.ts'
import { fanOut } from './fan-out.ts'
import { claimLanes } from './store/deliveries.ts'
import { removeUnconfirmed } from './subscriptions.ts'
import type { Topics } from './topics.ts'

export { type LinkPurpose, subscriptionArn, tokenOf } from './envelope.ts'
export { type Detail, findSubscription, listSubscriptions, type Subscription } from './store/subscriptions.ts'
export { confirm, deleteSubscription, subscribe, unsubscribe } from './subscriptions.ts'
export type { Topic, TopicEvent, Topics } from './topics.ts'

/** Endpoints that one process talks to at once. */
const lanesMax = 200

const noEntity = '00000000-0000-0000-0000-000000000000'

/** How often what is over is looked for. */
const tidyMs = 10_000

export type Webhooks = { stop(): Promise<void> }

/** Starts telling; `stop` cuts off what is being sent, which then is sent again. `call` reaches the endpoints. */
export function startWebhooks(
  ctx: EngineCtx,
  topics: Topics,
  call: Caller = createCaller(ctx.config.notificationTargets),
): Webhooks {
  const ending = new AbortController()
  const lanes = new Set<Promise<void>>()
  const sending = repeat(
    async () => {
      const free = lanesMax - lanes.size
      if (free === 0) return false
      const claimed = await claimLanes(ctx.database, formatInstant(ctx.clock.nowMs()), free, leaseMs)
      for (const lane of claimed) {
        const running = runLane(ctx, call, lane, ending.signal)
          .catch((error) =>
            ctx.log.error({ err: error, endpoint: lane.endpoint }, 'notifying failed; trying again'),
          )
          .finally(() => {
            lanes.delete(running)
            // Meanwhile something may have come that only waited for the lease to end.
            sending.wake()
          })
        lanes.add(running)
      }
      return claimed.length > 0
    },
    logTrouble(ctx.log, 'sending notifications'),
  )
  // Entities take turns, so that one to which much happens does not hold up the others.
  let told = noEntity
  const telling = repeat(
    async () => {
      const before = told
      told = (await fanOut(ctx, topics, before)) ?? noEntity
      return told !== noEntity || before !== noEntity
    },
    logTrouble(ctx.log, 'writing notifications'),
  )
  const tidying = repeat(
    () => removeUnconfirmed(ctx),
    logTrouble(ctx.log, 'removing dead subscriptions'),
    tidyMs,
  )
  const listening = [
    hearNotices(ctx, 'queued_events', () => telling.wake()),
    hearNotices(ctx, 'notification_deliveries', () => sending.wake()),
  ]
  return {
    stop: async () => {
      for (const unlisten of listening) await unlisten()
      ending.abort()
      await Promise.all([sending.stop(), telling.stop(), tidying.stop()])
      await Promise.all(lanes)
    },
  }
}
