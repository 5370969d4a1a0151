import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { logTrouble, repeat } from '#runtime/loop'
import { hearNotices } from '#runtime/notices'
import { recordChanges } from '#runtime/record/store'
import { newTurn } from '#runtime/turns/store'
import { actor } from '../actor.ts'
import { endAddressHolds, verifyAddresses } from './store/recipient-addresses.ts'
import { endHolds, endReviews } from './store/recipients.ts'

/** Maximum number of decisions of each kind in one turn. */
const turnMax = 100

/**
 * Starts reviewing recipients and recipient addresses and ending their holds, as soon as each is due. Woken by NOTIFY
 * `recipients`; any number of workers may run.
 */
export function startReviews(ctx: EngineCtx): { stop(): Promise<void> } {
  const steps = newSteps()
  const loop = repeat(
    async () => (await ctx.database.tx((tx) => review(tx, steps, ctx.clock.nowMs()))) >= turnMax,
    logTrouble(ctx.log, 'reviewing recipients'),
  )
  const unlisten = hearNotices(ctx, 'recipients', () => loop.wake())
  return {
    stop: async () => {
      await unlisten()
      await loop.stop()
    },
  }
}

type Decided = { entityId: string; id: string; status: string }

/** Status names in notifications, where they differ from the stored status. */
const toldAs: Record<string, string> = { verification_succeeded: 'inactive' }

const newSteps = () => [
  { turn: newTurn('reviewing recipients'), decide: endReviews },
  { turn: newTurn('ending holds of recipients'), decide: endHolds },
  { turn: newTurn('verifying addresses'), decide: verifyAddresses },
  { turn: newTurn('ending holds of addresses'), decide: endAddressHolds },
]

async function review(tx: Db, steps: ReturnType<typeof newSteps>, nowMs: number): Promise<number> {
  const at = formatInstant(nowMs)
  const decided: Decided[] = []
  for (const { turn, decide } of steps) decided.push(...(await decide(tx, turn, at, turnMax)))
  await recordChanges(
    tx,
    nowMs,
    decided.map(({ entityId, id, status }) => ({
      entityId,
      actor,
      type: `addressBookRecipient.${toldAs[status] ?? status}`,
      resourceId: id,
    })),
  )
  return decided.length
}
