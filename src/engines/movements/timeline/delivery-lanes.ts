import type { DeliveryHistory } from '#engines/webhooks/index'
import { instantMs, type Mark, type TimelineLane } from './types.ts'

/** One lane for each endpoint that is told of the movement: a mark for each attempt, and one for the next that is due. */
export function endpointLanes(deliveries: readonly DeliveryHistory[], shiftMs: number): TimelineLane[] {
  const bySubscription = new Map<string, DeliveryHistory[]>()
  for (const delivery of deliveries)
    bySubscription.set(delivery.subscriptionId, [
      ...(bySubscription.get(delivery.subscriptionId) ?? []),
      delivery,
    ])
  return [...bySubscription].map(([subscriptionId, own]) => {
    const marks = own
      .flatMap((delivery) => marksOf(delivery, shiftMs))
      .sort((one, other) => one.atMs - other.atMs)
    const tries = own.reduce((sum, { attempts }) => sum + attempts.length, 0)
    return {
      id: `endpoint:${subscriptionId}`,
      kind: 'endpoint' as const,
      title: own[0]!.endpoint,
      note: `${own.length} ${own.length === 1 ? 'notification' : 'notifications'}, ${tries} ${tries === 1 ? 'try' : 'tries'}`,
      spans: [],
      marks,
    }
  })
}

const byHand = { auto: '', resend: ', by hand', replay: ', in a replay' } as const

function marksOf(
  { messageId, topic, subscriptionId, state, dueDate, attempts }: DeliveryHistory,
  shiftMs: number,
): Mark[] {
  const refs = { notificationId: messageId, subscriptionId }
  const tried = attempts.map(({ number, cause, status, error, durationMs, recordedAt }): Mark => {
    const isTaken = error === null && status !== null && status >= 200 && status < 300
    const answer = status === null ? (error ?? 'no answer') : `${status} after ${durationMs} ms`
    return {
      atMs: instantMs(recordedAt),
      what: isTaken ? 'delivered' : 'refused',
      tone: isTaken ? 'good' : 'bad',
      text: `${topic}, try ${number}${byHand[cause]}: ${answer}.`,
      refs,
    }
  })
  if (state !== 'waiting') return tried
  // Due dates are in business time.
  const due = instantMs(dueDate) - shiftMs
  const next = {
    atMs: due,
    what: 'due',
    tone: 'idle' as const,
    text: `${topic}: the next try is due.`,
    refs,
    isDue: true,
  }
  return [...tried, next]
}
