import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { hexOf } from '#lib/hex'
import { explain, type Reverted, unexplained } from './store/reverted.ts'

const batchMax = 20
const unknownReason = 'the transaction was reverted in its block'

/** Asks the node why transactions reverted in their block, beside the steps, which do not wait for it. True when some were. */
export async function explainReverts(ctx: EngineCtx, chain: Chain): Promise<boolean> {
  const rows = await unexplained(ctx.database, chain.network.blockchain, batchMax)
  const reasons = await Promise.all(rows.map((row) => reasonOf(chain, row)))
  const nowMs = ctx.clock.nowMs()
  await explain(
    ctx.database,
    nowMs,
    rows.map((row, index) => ({ ...row, details: reasons[index] ?? unknownReason })),
  )
  return rows.length > 0
}

function reasonOf(chain: Chain, row: Reverted): Promise<string | undefined> {
  const call = { to: row.callTo, valueAtomic: row.callValue, data: hexOf(row.callData) }
  return chain.explainRevert(row.address, call, row.gasLimit, row.blockHash)
}
