import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { logTrouble, repeat } from '#runtime/loop'
import { hearNotices } from '#runtime/notices'
import { recordChanges } from '#runtime/record/store'
import { newTurn } from '#runtime/turns/store'
import { actor } from './credit.ts'
import { endAddressHolds, verifyAddresses } from './store/recipient-addresses.ts'
import { endHolds, endReviews } from './store/recipients.ts'

/** How many of each kind one turn decides about. */
const turnMax = 100

/**
 * Starts the reviews of recipients and of recipient addresses, and the ends of their holds: due as soon as the clock says
 * so. Woken by NOTIFY `recipients`; any number of workers may run.
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

/** What notifications call the status of a verified address. */
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
