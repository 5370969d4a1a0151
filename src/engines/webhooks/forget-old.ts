import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { forgetOld } from './store/deliveries.ts'

const dayMs = 86_400_000
const deliveriesKeptMs = 30 * dayMs
const notificationsKeptMs = 60 * dayMs
/** A batch takes some ten milliseconds, and skips what others have locked. */
const batchMax = 1_000

/** Deletes a batch of old deliveries with their attempts, and of old notifications. True when more may be left. */
export async function forgetOldNotifications({ database, clock }: EngineCtx): Promise<boolean> {
  const nowMs = clock.nowMs()
  const forgotten = await forgetOld(
    database,
    {
      endedBefore: formatInstant(nowMs - deliveriesKeptMs),
      madeBefore: formatInstant(nowMs - notificationsKeptMs),
    },
    batchMax,
  )
  return forgotten === batchMax
}
