import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { highestComplete } from '#engines/indexer/index'
import { formatInstant } from '#lib/time'
import { isDatabaseAway } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { defer, newTurn, type Turn } from '#runtime/turns/store'
import { actor } from '../act-for-entity.ts'
import { endDisbursements } from './end-disbursements.ts'
import { blockedByOperator } from './screen.ts'
import {
  type DisbursementKind,
  type DisbursementRef,
  type Ending,
  endedDisbursements,
  lockEnded,
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
  const ended = await endedDisbursements(ctx.database, turns.ending, kind, blockchain, completeTo, endedMax)
  const settle = async (disbursements: readonly DisbursementRef[]): Promise<void> => {
    if (disbursements.length === 0) return
    try {
      await endThose(ctx, kind, blockchain, completeTo, disbursements)
    } catch (error) {
      if (disbursements.length === 1)
        return restDisbursement(ctx, turns.ending, blockchain, kind, disbursements[0]!, error)
      // Retried one by one: a disbursement that cannot be ended delays no other.
      for (const disbursement of disbursements) await settle([disbursement])
    }
  }
  await settle(ended)
  return ended.length === endedMax
}

async function endThose(
  ctx: EngineCtx,
  kind: DisbursementKind,
  blockchain: string,
  completeTo: number,
  disbursements: readonly DisbursementRef[],
): Promise<void> {
  const count = await ctx.database.tx(async (tx) => {
    const ended = await lockEnded(tx, kind, blockchain, completeTo, disbursements)
    const count = await endDisbursements(
      tx,
      ctx.clock.nowMs(),
      ended.map(({ state, txHash, errorReason, ...disbursement }) => ({
        disbursement,
        transactionHash: txHash,
        ...(state === 'COMPLETE'
          ? { status: 'complete' as const }
          : { status: 'failed' as const, ...failureOf(kind, state, errorReason) }),
      })),
    )
    if (count > 0) failpoint('before-settlement-commit')
    return count
  })
  if (count > 0) failpoint('after-settlement-commit')
}

async function restDisbursement(
  ctx: EngineCtx,
  { queue }: Turn,
  blockchain: string,
  kind: DisbursementKind,
  { entityId, id }: DisbursementRef,
  error: unknown,
): Promise<void> {
  if (isDatabaseAway(error)) throw error
  ctx.log.error(
    { err: error, kind, entityId, id, blockchain },
    'cannot settle a disbursement yet; will retry',
  )
  await defer(ctx.database, queue, blockchain, [{ entityId, key: id, waitedMs: restMs }])
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
  await ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    const shown = await showHashes(tx, turn, kind, blockchain, formatInstant(nowMs), shownMax)
    if (kind !== 'transfer') return
    await recordChanges(
      tx,
      nowMs,
      shown.map(({ entityId, id: resourceId, status }) => {
        return { entityId, actor, type: `transfer.${status}`, resourceId, data: { status } }
      }),
    )
  })
}
