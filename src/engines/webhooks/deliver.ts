import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { KeptConnectionEnded, type OutboundCaller } from '#runtime/outbound/call'
import { failpoint } from '#runtime/scheduling/failpoints'
import { backOffMs, keptTryingMs } from './back-off.ts'
import type { RecordAttempt } from './batch-attempts.ts'
import { type Envelope, makeEnvelope, tokenOf } from './envelope.ts'
import { handleFailing } from './failing-endpoints.ts'
import {
  atOnceDate,
  type Delivery,
  type DeliveryLane,
  dropDelivery,
  dueDeliveries,
  endBatch,
  examinedMax,
  keepLane,
  releaseLane,
} from './store/deliveries.ts'
import type { Line } from './topics.ts'
import { makeWebhook } from './webhook.ts'

/** Timeout for an endpoint's complete response, as documented for each line. */
export const timeoutMs: Record<Line, number> = { v1: 10_000, v2: 5_000 }
/** Lease of a subscription, longer than any round. After a worker is killed, its subscriptions wait this long. */
export const leaseMs = 15_000
/** Time after which a worker that goes on extends its lease: the rest covers a round and the response to its last request. */
const keptMs = 3_000
/** Maximum concurrent requests to one endpoint. */
const requestsMax = 8
/** Time of a round in which requests begin: a subscription that ends or is paused receives nothing long after. */
const beginningMs = 1_000
/** Maximum rounds before other subscriptions get a turn. */
const roundsMax = 12
/** Maximum backoff of a failing endpoint: new notifications are attempted within this time. */
const restMaxMs = 30_000

/**
 * Sends due deliveries to one endpoint, round by round, until none is due, a round fails, or `signal` aborts. During a backoff
 * deliveries resent by hand are attempted, one at a time, until one succeeds: that ends the backoff.
 */
export async function runLane(
  ctx: EngineCtx,
  call: OutboundCaller,
  record: RecordAttempt,
  lane: DeliveryLane,
  signal: AbortSignal,
): Promise<void> {
  let { failureCount, restDate } = lane
  if (lane.isEnding && (await endMore(ctx, lane))) return
  let leasedMs = performance.now()
  for (let round = 0; round < roundsMax && !signal.aborted; round++) {
    if (performance.now() - leasedMs > keptMs) {
      leasedMs = performance.now()
      if (!(await keepLane(ctx.database, lane, leaseMs))) return
    }
    const isResting = restDate !== null
    const [until, max] = isResting ? [atOnceDate, 1] : [nowOf(ctx), examinedMax]
    const { due, isEmpty } = await dueDeliveries(ctx.database, lane, until, max)
    if (isEmpty) break
    const sent = await deliverRound(due, signal, (delivery) =>
      deliver(ctx, call, record, lane, delivery, signal),
    )
    if (sent.includes('delivered')) [failureCount, restDate] = [0, null]
    else if (sent.includes('failed')) {
      // An attempt by hand during a backoff does not extend it.
      if (!isResting) failureCount += 1
      break
    }
  }
  const nowMs = ctx.clock.nowMs()
  if (failureCount > 0) restDate ??= formatInstant(nowMs + Math.min(backOffMs(failureCount), restMaxMs))
  if (failureCount > 0 && lane.line === 'v2') await handleFailing(ctx, lane)
  await releaseLane(ctx.database, lane, { failureCount, restDate, at: formatInstant(nowMs) })
}

type DeliveryEnd = 'delivered' | 'failed' | 'dropped' | 'aborted' | 'ended'

/**
 * Sends the deliveries of a round in their order, some at once. After a failure, or when the round has taken too long, no
 * further request begins: the next round finds what is left.
 */
async function deliverRound(
  due: readonly Delivery[],
  signal: AbortSignal,
  send: (delivery: Delivery) => Promise<DeliveryEnd>,
): Promise<DeliveryEnd[]> {
  const sent: DeliveryEnd[] = []
  const untilMs = performance.now() + beginningMs
  let next = 0
  const isOver = () => signal.aborted || sent.includes('failed') || performance.now() > untilMs
  const sendNext = async () => {
    do {
      const delivery = due[next++]
      if (!delivery) return
      sent.push(await send(delivery))
    } while (!isOver())
  }
  await Promise.all(Array.from({ length: Math.min(requestsMax, due.length) }, sendNext))
  return sent
}

/** Ends a batch of deliveries that are not to be sent any more. True when the lane was released, for another turn to go on. */
async function endMore(ctx: EngineCtx, lane: DeliveryLane): Promise<boolean> {
  const { entityId, subscriptionId, failureCount } = lane
  const at = nowOf(ctx)
  const isMore = await ctx.database.tx((tx) => endBatch(tx, entityId, subscriptionId, at))
  if (isMore) await releaseLane(ctx.database, lane, { failureCount, restDate: null, at })
  return isMore
}

const nowOf = ({ clock }: EngineCtx) => formatInstant(clock.nowMs())

/**
 * Makes one attempt. An attempt that shutdown aborts is not counted. The first one may use a kept connection; when that ends
 * without an answer, the endpoint need not have failed: the next attempt, on a new connection, is due at once.
 */
async function deliver(
  ctx: EngineCtx,
  call: OutboundCaller,
  record: RecordAttempt,
  lane: DeliveryLane,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<DeliveryEnd> {
  const { messageId } = delivery
  const envelope = await envelopeOf(ctx, lane, delivery)
  if (!envelope) {
    await dropDelivery(ctx.database, lane, messageId, nowOf(ctx))
    ctx.metrics.deliveries.inc({ outcome: 'dropped' })
    return 'dropped'
  }
  const startedMs = performance.now()
  let isEnded = false
  const answer = await call({
    method: 'POST',
    url: lane.endpoint,
    timeoutMs: timeoutMs[lane.line],
    signal,
    ...envelope,
    keepAlive: delivery.attemptCount === 0,
  }).catch((error: Error) => {
    isEnded = error instanceof KeptConnectionEnded
    return { status: null, headers: null, text: reasonOf(error) }
  })
  if (signal.aborted && answer.status === null) return 'aborted'
  failpoint('before-delivery-record')
  const isDelivered = answer.status !== null && answer.status >= 200 && answer.status < 300
  const number = delivery.attemptCount + 1
  const text = answer.text.replaceAll('\0', '')
  const nowMs = ctx.clock.nowMs()
  const isOver = !isEnded && nowMs - Date.parse(delivery.createDate) > keptTryingMs
  const state = isDelivered ? 'delivered' : isOver ? 'failed' : 'waiting'
  const outcome = {
    messageId,
    number,
    status: answer.status,
    error: isDelivered ? null : text,
    cause: delivery.cause,
    requestHeaders: envelope.headers,
    ...loggedBody(ctx, delivery, envelope.body),
    responseHeaders: answer.headers,
    responseBody: answer.status === null ? null : text,
    durationMs: Math.round(performance.now() - startedMs),
    state,
    dueDate: isEnded
      ? delivery.dueDate
      : formatInstant(state === 'waiting' ? nowMs + backOffMs(number) : nowMs),
    at: formatInstant(nowMs),
  } as const
  await record(lane, outcome)
  ctx.metrics.deliveries.inc({ outcome: state === 'waiting' ? 'retried' : state })
  if (!isDelivered)
    ctx.log.info(
      { endpoint: lane.endpoint, messageId, attempt: number, status: answer.status, error: outcome.error },
      state === 'failed'
        ? 'a notification failed for good'
        : 'a notification was not delivered; retrying later',
    )
  if (isEnded) return 'ended'
  return isDelivered ? 'delivered' : 'failed'
}

/** Builds the request of a delivery, or returns `undefined` when it is not to be sent any more. */
async function envelopeOf(
  ctx: EngineCtx,
  lane: DeliveryLane,
  delivery: Delivery,
): Promise<Envelope | undefined> {
  const { messageId, createDate, wanted, detailId, region, topic, message, environment } = delivery
  if (!wanted) return undefined
  if (lane.line === 'v2')
    return makeWebhook({
      signer: ctx.custody.webhookSigner,
      subscriptionId: lane.subscriptionId,
      notificationId: messageId,
      notificationType: topic!,
      notification: message!,
      createDate,
      orderNumber: delivery.orderNumber!,
      sentMs: ctx.clock.nowMs(),
    })
  return makeEnvelope({
    notary: ctx.custody.notary,
    signatureVersion: ctx.config.notificationSignature,
    baseUrl: ctx.config.publicUrl ?? delivery.baseUrl,
    environment,
    region: region!,
    detailId: detailId!,
    entityId: lane.entityId,
    messageId,
    timestamp: createDate,
    message,
  })
}

const loggedMax = 65_536

/**
 * The body as the log keeps it: its beginning, without the token that ends a subscription of v1. A confirmation has none, since
 * its token proves that the endpoint received it.
 */
function loggedBody({ custody }: EngineCtx, { detailId, message }: Delivery, body: string) {
  if (message === null) return { requestBody: null, requestBytes: null }
  const token = detailId === null ? undefined : tokenOf(custody.notary, 'unsubscribe', detailId)
  const shown = token === undefined ? body : body.replaceAll(token, 'REDACTED')
  // The database refuses half a character.
  const requestBody = shown.slice(0, loggedMax).replace(/[\ud800-\udbff]$/, '')
  return { requestBody, requestBytes: Buffer.byteLength(body) }
}

const reasonOf = (error: Error & { code?: string }) => error.message || error.code || error.name
