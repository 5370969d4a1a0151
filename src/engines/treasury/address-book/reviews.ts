import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { hearNotices } from '#runtime/pg-notifications'
import { recordChanges } from '#runtime/record/store'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn, type Turn } from '#runtime/turns/store'
import { actor } from '../act-for-entity.ts'
import { denyListedRecipients } from './deny-listed.ts'
import { endAddressHolds, verifyAddresses } from './store/recipient-addresses.ts'
import { endRecipientHolds, endReviews, type Recipient } from './store/recipients.ts'

/** Maximum number of decisions of each kind in one turn. */
const turnMax = 100

/**
 * Starts reviewing recipients and recipient addresses and ending their holds, as soon as each is due. Woken by NOTIFY
 * `recipients`; any number of workers may run.
 */
export function startReviews(ctx: EngineCtx): Service {
  const steps = newSteps()
  const loop = repeat(
    async () => (await ctx.database.tx((tx) => review(ctx, tx, steps))) >= turnMax,
    logTrouble(ctx.log, 'reviewing recipients'),
  )
  const unlisten = hearNotices(ctx, 'recipients', () => loop.wake())
  return serviceOf(unlisten, loop)
}

type Decided = { entityId: string; id: string; status: string }

/** Status names in notifications, where they differ from the stored status. */
const toldAs: Record<string, string> = { verification_succeeded: 'inactive' }

type Decide<Row> = (tx: Db, turn: Turn, at: string, limit: number) => Promise<readonly Row[]>
type ReviewStep = {
  turn: Turn
  decide(ctx: EngineCtx, tx: Db, turn: Turn, at: string): Promise<readonly Decided[]>
}

const ofAddresses =
  (decide: Decide<Decided>): ReviewStep['decide'] =>
  (_, tx, turn, at) =>
    decide(tx, turn, at, turnMax)

const ofRecipients =
  (decide: Decide<Recipient>): ReviewStep['decide'] =>
  async (ctx, tx, turn, at) =>
    denyListedRecipients({ ...ctx, db: tx }, await decide(tx, turn, at, turnMax), at)

const newSteps = (): ReviewStep[] => [
  { turn: newTurn('reviewing recipients'), decide: ofRecipients(endReviews) },
  { turn: newTurn('ending holds of recipients'), decide: ofRecipients(endRecipientHolds) },
  { turn: newTurn('verifying addresses'), decide: ofAddresses(verifyAddresses) },
  { turn: newTurn('ending holds of addresses'), decide: ofAddresses(endAddressHolds) },
]

async function review(ctx: EngineCtx, tx: Db, steps: readonly ReviewStep[]): Promise<number> {
  const decided: Decided[] = []
  // Each step finds what was made while the one before it ran, and tells of it with a later time.
  for (const { turn, decide } of steps)
    decided.push(...(await decide(ctx, tx, turn, formatInstant(ctx.clock.nowMs()))))
  await recordChanges(
    tx,
    ctx.clock.nowMs(),
    decided.map(({ entityId, id, status }) => ({
      entityId,
      actor,
      type: `addressBookRecipient.${toldAs[status] ?? status}`,
      resourceId: id,
    })),
  )
  return decided.length
}
