import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { type DeliveryLane, endDeliveries } from './store/deliveries.ts'
import { disableFailing, lockFailing, setNoticeDate } from './store/webhook-subscriptions.ts'

const dayMs = 86_400_000
/** Time without a success after which the owner and the operator are notified that the endpoint will be disabled. */
export const noticeAfterMs = dayMs
/** Time of failures alone after which the endpoint is disabled. */
export const disableAfterMs = 5 * dayMs

/** The time from which the next failure disables an endpoint. */
export const disableDateOf = (failingSince: string): string =>
  formatInstant(Date.parse(failingSince) + disableAfterMs)

/** Gives notice about the endpoint of a lane, or disables it, when it has failed for long without a success. */
export async function handleFailing(ctx: EngineCtx, lane: DeliveryLane): Promise<void> {
  const { entityId, subscriptionId, endpoint } = lane
  const nowMs = ctx.clock.nowMs()
  const at = formatInstant(nowMs)
  await ctx.database.tx(async (tx) => {
    const found = await lockFailing(tx, lane)
    if (!found?.enabled || found.failingSince === null) return
    const { failingSince, noticeDate } = found
    const failedMs = nowMs - Date.parse(failingSince)
    const isNotice = noticeDate === null
    if (failedMs < (isNotice ? noticeAfterMs : disableAfterMs)) return
    const disableDate = disableDateOf(failingSince)
    if (isNotice) await setNoticeDate(tx, lane, at)
    else {
      await disableFailing(tx, lane, at)
      await endDeliveries(tx, entityId, subscriptionId, 'failed', at)
    }
    const type = `subscription.${isNotice ? 'failing' : 'disabled'}`
    const data = { endpoint, failingSince, ...(isNotice && { disableDate }) }
    await recordChanges(tx, nowMs, [{ entityId, actor: 'webhooks', type, resourceId: subscriptionId, data }])
    raiseAlarm(
      ctx.log,
      'webhook-endpoint-failing',
      { entityId, subscriptionId, ...data },
      isNotice
        ? `an endpoint only fails and will be disabled after ${disableDate}`
        : 'an endpoint was disabled, since it only failed for days',
    )
  })
}
