import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { hexOf } from '#lib/hex'
import { rest, type Turn } from '#runtime/turns/store'
import { explain, type Reverted, unexplained } from './store/reverted.ts'

const batchMax = 20
/** How long a node that does not answer is asked again. */
const patienceMs = 60_000
const unknownReason = 'the transaction was reverted in its block'

/** Asks the node why transactions reverted in their block, beside the steps, which do not wait for it. True when some were. */
export async function explainReverts(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const rows = await unexplained(ctx.database, turn, blockchain, batchMax)
  const nowMs = ctx.clock.nowMs()
  const told = await Promise.all(rows.map((row) => detailsOf(ctx, chain, row, nowMs)))
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

/** `undefined`: to be asked again. */
async function detailsOf(ctx: EngineCtx, chain: Chain, row: Reverted, nowMs: number) {
  const call = { to: row.callTo, valueAtomic: row.callValue, data: hexOf(row.callData) }
  try {
    return (await chain.explainRevert(row.address, call, row.gasLimit, row.blockHash)) ?? unknownReason
  } catch (error) {
    ctx.log.warn({ err: error, id: row.id }, 'a node does not tell why a transaction reverted')
    return nowMs - Date.parse(row.updateDate) > patienceMs ? unknownReason : undefined
  }
}
