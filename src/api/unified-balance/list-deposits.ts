import type { Ctx } from '#engines/ctx'
import { pendingDeposits, tokenSymbol } from '#engines/unified-balance/index'
import { askedHolders, type Sources } from './sources.ts'

export async function listDeposits(ctx: Ctx, body: Sources) {
  const asked = askedHolders(ctx, body)
  const found = await pendingDeposits(
    ctx.db,
    [...new Set(asked.map(({ depositor }) => depositor))],
    [...new Set(asked.map(({ unified }) => unified.blockchain))],
  )
  const deposits = found.flatMap(({ blockchain, depositor, ...deposit }) => {
    const holder = asked.find(
      (each) => each.unified.blockchain === blockchain && each.depositor === depositor,
    )
    if (!holder) return []
    return [
      {
        depositor: holder.shown,
        domain: holder.unified.domain,
        transactionHash: deposit.txHash,
        amount: String(deposit.amountAtomic),
        status: 'pending',
        blockHeight: String(deposit.blockNumber),
        blockHash: deposit.blockHash,
        blockTimestamp: deposit.blockTime,
      },
    ]
  })
  return { token: tokenSymbol, deposits }
}
