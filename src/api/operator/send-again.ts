import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { type Replay, readReplay, replayNotifications, resendNotification } from '#engines/webhooks/index'
import { invalid } from '#lib/errors'
import { formatInstant, instantRule, parseInstant } from '#lib/time'
import type { replayBody } from './notification-schema.ts'
import { showNotification } from './read-notifications.ts'

/** Sends one notification again, under its id. */
export async function resend(ctx: Ctx, id: string, subscriptionId: string | undefined) {
  const { deliveries } = showNotification(await resendNotification(ctx, id, subscriptionId))
  return {
    deliveries: deliveries.filter(
      (each) => each.state === 'waiting' && (subscriptionId ?? each.subscriptionId) === each.subscriptionId,
    ),
  }
}

const defaultRate = 50

/** Sends a range of notifications to one subscription again. */
export async function sendRangeAgain(ctx: Ctx, subscriptionId: string, body: Static<typeof replayBody>) {
  const from = instantOf('from', body.from)
  const to = body.to === undefined ? formatInstant(ctx.receivedMs) : instantOf('to', body.to)
  if (to < from) throw invalid({ at: 'to', reason: 'must not be before from', value: body.to })
  const { state, topics, ratePerSecond = defaultRate } = body
  return showReplay(
    await replayNotifications(ctx, { subscriptionId, from, to, state, topics, ratePerSecond }),
  )
}

export const getReplay = async (ctx: Ctx, subscriptionId: string, id: string) =>
  showReplay(await readReplay(ctx, subscriptionId, id))

const showReplay = ({ id, total, waiting, failed }: Replay) => ({
  id,
  total,
  done: total - waiting - failed,
  failed,
  state: waiting > 0 ? ('running' as const) : ('done' as const),
})

function instantOf(field: string, text: string): string {
  const ms = parseInstant(text)
  if (ms === undefined) throw invalid({ at: field, reason: instantRule, value: text })
  return formatInstant(ms)
}
