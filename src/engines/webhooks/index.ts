/**
 * Delivers webhooks at least once. Events of subscribed entities are queued in the transaction that records them; one worker
 * at a time turns an entity's events into notifications, whose text is fixed from then on. Each subscription is leased
 * separately, so that each endpoint has its own pace and receives the notifications of a resource in order. Woken by NOTIFY
 * `queued_events` and `notification_deliveries`; any number of workers may run.
 *
 * Subscription: an endpoint of a customer. Delivery: one attempt to post a notification there.
 */

import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { callerOf, type OutboundCaller } from '#runtime/outbound/call'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn } from '#runtime/turns/store'
import { attemptRecorder } from './batch-attempts.ts'
import { leaseMs, runLane } from './deliver.ts'
import { fanOut } from './fan-out.ts'
import { forgetOldNotifications } from './forget-old.ts'
import { claimLanes, type DeliveryLane } from './store/deliveries.ts'
import { removeUnconfirmed } from './subscriptions.ts'
import type { Topics } from './topics.ts'

export { timeoutMs as deliveryTimeoutMs } from './deliver.ts'
export { subscriptionArn, tokenOf } from './envelope.ts'
export { disableDateOf } from './failing-endpoints.ts'
export { heldMaxMs } from './fan-out.ts'
export { gatewayNotificationTypes, notificationTypes } from './notification-types.ts'
export {
  readNotification,
  readReplay,
  replayNotifications,
  resendNotification,
} from './resend-notifications.ts'
export { waitingDeliveries } from './store/deliveries.ts'
export {
  type DeliveryHistory,
  deliveriesOf,
  type LoggedAttempt,
  type LoggedDelivery,
  type LoggedNotification,
  notificationsPage,
  type Replay,
} from './store/logged-notifications.ts'
export { hastenDeliveries, releaseHeld } from './store/queue.ts'
export { listSubscriptions, type Subscription, webhookTimers } from './store/subscriptions.ts'
export {
  findWebhookSubscription,
  listWebhookSubscriptions,
  type WebhookSubscription,
  webhookEndpoints,
} from './store/webhook-subscriptions.ts'
export { confirmRegion, deleteSubscription, subscribe, unsubscribe } from './subscriptions.ts'
export type { TopicEvent, Topics, WebhookContent } from './topics.ts'
export { makeTestWebhook } from './webhook.ts'
export {
  subscribeWebhook,
  unsubscribeWebhook,
  updateWebhook,
} from './webhook-subscriptions.ts'

/** Maximum endpoints that one process sends to concurrently; endpoints that failed last take at most half. */
const lanesMax = 200
const failingLanesMax = lanesMax / 2

/** Interval between cleanups of unconfirmed subscriptions, and of old deliveries while none is left. */
const tidyMs = 10_000

/** Starts delivering; `stop` aborts requests in progress, which are sent again later. `call` sends the requests. */
export function startWebhooks(
  ctx: EngineCtx,
  topics: Topics,
  call: OutboundCaller = callerOf(ctx.config),
): Service {
  const ending = new AbortController()
  const record = attemptRecorder(ctx.database)
  const lanes = new Map<Promise<void>, DeliveryLane>()
  const run = (lane: DeliveryLane) => {
    const running = runLane(ctx, call, record, lane, ending.signal)
      .catch((error) =>
        ctx.log.error({ err: error, endpoint: lane.endpoint }, 'delivering notifications failed; retrying'),
      )
      .finally(() => {
        lanes.delete(running)
        // Deliveries may have arrived that only waited for the lease to end.
        sending.wake()
      })
    lanes.set(running, lane)
  }
  const sendingTurn = newTurn('sending notifications')
  const claim = async (failing: boolean): Promise<boolean> => {
    const failed = [...lanes.values()].filter(({ failureCount }) => failureCount > 0).length
    const limit = Math.min(lanesMax - lanes.size, failing ? failingLanesMax - failed : lanesMax)
    if (limit <= 0) return false
    const now = formatInstant(ctx.clock.nowMs())
    const claimed = await claimLanes(ctx.database, sendingTurn, now, { failing, limit, leaseMs })
    for (const lane of claimed) run(lane)
    return claimed.length > 0
  }
  const sending = repeat(
    async () => {
      const sound = await claim(false)
      return (await claim(true)) || sound
    },
    logTrouble(ctx.log, 'sending notifications'),
  )
  const writingTurn = newTurn('writing notifications')
  const writing = repeat(() => fanOut(ctx, topics, writingTurn), logTrouble(ctx.log, 'writing notifications'))
  const tidying = repeat(
    () => removeUnconfirmed(ctx),
    logTrouble(ctx.log, 'removing dead subscriptions'),
    tidyMs,
  )
  const forgetting = repeat(
    () => forgetOldNotifications(ctx),
    logTrouble(ctx.log, 'removing old notifications'),
    tidyMs,
  )
  const listening = [
    hearNotices(ctx, 'queued_events', () => writing.wake()),
    hearNotices(ctx, 'notification_deliveries', () => sending.wake()),
  ]
  return serviceOf(
    listening,
    () => ending.abort(),
    [sending, writing, tidying, forgetting],
    () => Promise.all(lanes.keys()),
  )
}
