import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { formatInstant } from '#lib/time'
import { type Db, isDatabaseAway } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { defer, newTurn, type Turn } from '#runtime/turns/store'
import { actor } from '../act-for-entity.ts'
import { endDisbursements } from './end-disbursements.ts'
import { blockedByOperator } from './screen.ts'
import {
  type DisbursementKind,
  type DisbursementRef,
  type EndedQueue,
  type Ending,
  endedDisbursements,
  lockEnded,
  type ShownDisbursement,
  showHashes,
} from './store/disbursements.ts'

const shownMax = 200
const endedMax = 100
/** Waiting time passed to `rest`, which defers a disbursement that cannot be ended for a tenth of it. */
const restMs = 300_000

/** A worker's turns in the queues of one kind of disbursement. */
export type SettlingTurns = { showing: Turn; ending: Turn }
export const settlingTurns = (): SettlingTurns => ({
  showing: newTurn('showing hashes'),
  ending: newTurn('settling disbursements'),
})

/**
 * Copies transaction hashes to their disbursements, and ends disbursements whose transaction has ended. True when there may
 * be more.
 */
export async function settleDisbursements(
  ctx: EngineCtx,
  chain: Chain,
  kind: DisbursementKind,
  turns: SettlingTurns,
): Promise<boolean> {
  const { blockchain } = chain.network
  const completeTo = await highestComplete(ctx.database, blockchain)
  await showRunning(ctx, turns.showing, blockchain, kind)
  const queue = { kind, blockchain, completeTo }
  const take = (entityId: string, limit: number) => endThose(ctx, turns.ending, queue, { entityId }, limit)
  const ended = await endedDisbursements(ctx.database, turns.ending, queue, take, endedMax)
  return ended.length === endedMax
}

/** Ends such disbursements of one tenant, or one of them. Returns those that were found, also when they cannot be ended. */
async function endThose(
  ctx: EngineCtx,
  turn: Turn,
  queue: EndedQueue,
  scope: Parameters<typeof lockEnded>[2],
  limit: number,
): Promise<readonly DisbursementRef[]> {
  let found: readonly DisbursementRef[] = []
  try {
    await ctx.database.tx(async (tx) => {
      const ended = await lockEnded(tx, queue, scope, limit)
      found = ended
      const count = await endDisbursements(
        tx,
        ctx.clock.nowMs(),
        ended.map(({ state, txHash, errorReason, ...disbursement }) => ({
          disbursement,
          transactionHash: txHash,
          ...(state === 'COMPLETE'
            ? { status: 'complete' as const }
            : { status: 'failed' as const, ...failureOf(queue.kind, state, errorReason) }),
        })),
      )
      if (count > 0) failpoint('before-settlement-commit')
    })
  } catch (error) {
    const [first] = found
    if (!first) throw error
    if (found.length === 1) await restDisbursement(ctx, turn, queue, first, error)
    // Retried one by one: a disbursement that cannot be ended delays no other.
    else for (const ref of found) await endThose(ctx, turn, queue, ref, 1)
    return found
  }
  if (found.length > 0) failpoint('after-settlement-commit')
  return found
}

async function restDisbursement(
  ctx: EngineCtx,
  turn: Turn,
  { kind, blockchain }: EndedQueue,
  { entityId, id }: DisbursementRef,
  error: unknown,
): Promise<void> {
  if (isDatabaseAway(error)) throw error
  ctx.log.error(
    { err: error, kind, entityId, id, blockchain },
    'cannot settle a disbursement yet; will retry',
  )
  await defer(ctx.database, turn.queue, blockchain, [{ entityId, key: id, waitedMs: restMs }])
}

/** Why a transaction paid nothing, in the vocabulary of payouts and refunds, or of transfers. */
export function failureOf(
  kind: DisbursementKind,
  state: string,
  reason: string | null,
): Pick<Ending, 'errorCode' | 'riskReason'> {
  if (state === 'DENIED') return { errorCode: 'transaction_denied', riskReason: blockedByOperator }
  if (kind !== 'transfer') return { errorCode: 'transaction_failed' }
  return { errorCode: reason === 'FAILED_ON_CHAIN' ? 'blockchain_error' : 'transfer_failed' }
}

async function showRunning(
  ctx: EngineCtx,
  turn: Turn,
  blockchain: string,
  kind: DisbursementKind,
): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const record = (tx: Db, shown: readonly ShownDisbursement[]) =>
    recordChanges(
      tx,
      nowMs,
      shown.map(({ entityId, id: resourceId, status }) => {
        return { entityId, actor, type: `transfer.${status}`, resourceId, data: { status } }
      }),
    )
  const proceed = kind === 'transfer' ? record : undefined
  await showHashes(ctx.database, turn, { kind, blockchain }, formatInstant(nowMs), shownMax, proceed)
}
