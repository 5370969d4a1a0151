import type { EngineCtx } from '#engines/ctx'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { freeCoinsOf, transactionCost } from '../gas.ts'
import { treasuriesOf } from '../store/treasuries.ts'

/** The network fees of transactions on one chain, in base units of its native coin. */
export type FeeEstimate = {
  blockchain: string
  symbol: string
  decimals: number
  /** An upper bound; absent while no node gives the price of gas. */
  feeAtomic?: bigint
  /** The free native coins of the treasury, which pays the fees. */
  ownedAtomic: bigint
}

/** Wait for the price of gas of a chain whose node is slow. */
const priceWaitMs = 2_000

/**
 * Estimates what the transactions of payouts cost, for each chain that the process is connected to. It asks nodes: not for a `tx`.
 */
export async function estimateFees(
  ctx: EngineCtx,
  entityId: string,
  payouts: readonly { blockchain: string; rowCount: number }[],
): Promise<FeeEstimate[]> {
  const counts = new Map<string, number>()
  for (const { blockchain, rowCount } of payouts)
    counts.set(blockchain, (counts.get(blockchain) ?? 0) + rowCount)
  const treasuries = await treasuriesOf(ctx.db, entityId)
  const estimates = [...counts].map(async ([blockchain, count]): Promise<FeeEstimate[]> => {
    const chain = ctx.chains.find(blockchain)
    if (!chain) return []
    const treasury = treasuries.find((each) => each.blockchain === blockchain)
    const costAtomic = await resultWithin(priceWaitMs, transactionCost(chain))
    const { symbol, decimals } = chain.network.nativeToken
    const ownedAtomic = treasury ? await freeCoinsOf(ctx.db, treasury) : 0n
    const feeAtomic = costAtomic === undefined ? undefined : costAtomic * BigInt(count)
    return [{ blockchain, symbol, decimals, ownedAtomic, ...(feeAtomic !== undefined && { feeAtomic }) }]
  })
  return (await Promise.all(estimates)).flat()
}
