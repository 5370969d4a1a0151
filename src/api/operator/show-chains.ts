import { patienceMs } from '#api/chain-head'
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { suggestedFees } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { resultWithin } from '#lib/time-limit'
import { listChains } from './list-chains.ts'

const gweiDecimals = 9

/** Indexing progress of each chain, health of its endpoints in this process, and base fee of its next block. */
export async function showChains(ctx: EngineCtx) {
  const chains = ctx.chains.list()
  const [progress, fees] = await Promise.all([listChains(ctx), Promise.all(chains.map(baseFeeOf))])
  return progress.map((row, index) => ({
    ...row,
    rpc: chains[index]!.health().map(showEndpoint),
    ...fees[index],
  }))
}

const showEndpoint = ({ host, errorsRatio, p50Ms, p95Ms }: ReturnType<Chain['health']>[number]) => ({
  url: host,
  ...(p50Ms !== undefined && { p50Ms }),
  ...(p95Ms !== undefined && { p95Ms }),
  errorShare: errorsRatio,
})

async function baseFeeOf(chain: Chain): Promise<{ baseFee?: string }> {
  if (!chain.network.eip1559) return {}
  const fees = await resultWithin(patienceMs, suggestedFees(chain))
  return fees ? { baseFee: formatAmount(fees.baseFeeAtomic, gweiDecimals) } : {}
}
