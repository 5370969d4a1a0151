import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { hexOf } from '#lib/hex'
import { createTally } from '#lib/tally'
import { rest, type Turn } from '#runtime/turns/store'
import { explain, type Reverted, unexplained } from './store/reverted.ts'
import { noteTrouble } from './trouble.ts'

const batchMax = 20
/** Number of consecutive failures to read the revert reason of each transaction. */
const untoldTimes = createTally()
const unknownReason = 'the transaction was reverted in its block'

/**
 * Reads from the nodes why mined transactions reverted, in a loop of its own, so that block processing does not wait for it.
 * Failed reads are retried until the node recovers. True when some were explained.
 */
export async function explainReverts(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const rows = await unexplained(ctx.database, turn, blockchain, batchMax)
  const nowMs = ctx.clock.nowMs()
  const told = await Promise.all(rows.map((row) => detailsOf(ctx, chain, row)))
  const explained = rows.flatMap((row, index) => {
    const details = told[index]
    return details === undefined ? [] : [{ ...row, details }]
  })
  await explain(ctx.database, nowMs, explained)
  const untold = rows.filter((_, index) => told[index] === undefined)
  await rest(
    ctx.database,
    turn.queue,
    blockchain,
    untold.map(({ entityId, id, updateDate }) => {
      return { entityId, key: id, waitedMs: nowMs - Date.parse(updateDate) }
    }),
  )
  return explained.length > 0
}

/** Returns the revert reason, or `undefined` when it must be read again. */
async function detailsOf(ctx: EngineCtx, chain: Chain, row: Reverted) {
  const call = { to: row.callTo, valueAtomic: row.callValue, data: hexOf(row.callData) }
  try {
    const told = await chain.explainRevert(row.address, call, row.gasLimit, row.blockHash)
    untoldTimes.ended(row.id)
    return told ?? unknownReason
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    noteTrouble(ctx, chain, { doing: 'explaining', said, tries: untoldTimes.failed(row.id) })
    return undefined
  }
}
