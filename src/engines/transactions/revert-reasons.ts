import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { releaseHeld } from '#engines/webhooks/index'
import { createFailureCounts } from '#runtime/scheduling/failure-counts'
import { oncePer } from '#runtime/scheduling/memoize'
import { defer, type Turn } from '#runtime/turns/store'
import { errorsOfCall } from './contract-errors.ts'
import { callOf } from './intent.ts'
import { logProviderFailure } from './provider-failures.ts'
import { type RevertedTransaction, recordRevertReasons, withoutRevertReason } from './store/revert-reasons.ts'

const batchMax = 20
/** Number of consecutive failures to read the revert reason of each transaction. */
const failedReadsOn = oncePer((_chain: Chain) => createFailureCounts())
const unknownReason = 'the transaction was reverted in its block'

/**
 * Reads from the nodes why mined transactions reverted, in a loop of its own, so that block processing does not wait for it.
 * Failed reads are retried until the node recovers; the notification of the failure waits for a bounded time only. True when
 * some were read.
 */
export async function readRevertReasons(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const rows = await withoutRevertReason(ctx.database, turn, blockchain, batchMax)
  const nowMs = ctx.clock.nowMs()
  const reasons = await Promise.all(rows.map((row) => readReason(ctx, chain, row)))
  const answered = rows.flatMap((row, index) => {
    const details = reasons[index]
    return details === undefined ? [] : [{ ...row, details }]
  })
  if (answered.length > 0)
    await ctx.database.tx(async (tx) => {
      const explained = await recordRevertReasons(tx, nowMs, answered)
      await releaseHeld(
        tx,
        explained.map(({ entityId, id, updateDate, errorDetails }) => {
          return { entityId, resourceId: id, updateDate, members: { errorDetails } }
        }),
      )
    })
  const unanswered = rows.filter((_, index) => reasons[index] === undefined)
  await defer(
    ctx.database,
    turn.queue,
    blockchain,
    unanswered.map(({ entityId, id, updateDate }) => {
      return { entityId, key: id, waitedMs: nowMs - Date.parse(updateDate) }
    }),
  )
  return answered.length > 0
}

/** Returns the revert reason, or `undefined` when it must be read again. */
async function readReason(ctx: EngineCtx, chain: Chain, row: RevertedTransaction) {
  const failedReads = failedReadsOn(chain)
  try {
    const errors = await errorsOfCall(ctx.database, chain, row)
    const { address: from, txHash, gasLimit, blockNumber: number, blockHash: hash } = row
    const reverted = { txHash, from, call: callOf(row), gasLimit, block: { number, hash } }
    const reason = await chain.effects.explainRevert(reverted, errors)
    failedReads.ended(row.id)
    return reason ?? unknownReason
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    logProviderFailure(ctx, chain, { doing: 'explaining', said, tries: failedReads.failed(row.id) })
    return undefined
  }
}
