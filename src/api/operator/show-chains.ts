import { headWaitMs } from '#api/sources/chain-head'
import type { Chain } from '#chains/chain'
import type { EndpointHealth } from '#chains/facets/endpoints'
import type { EngineCtx } from '#engines/ctx'
import { suggestedFees } from '#engines/transactions/index'
import { accountContracts } from '#engines/transactions/operations/index'
import { formatAmount } from '#lib/amounts'
import { resultWithin } from '#runtime/scheduling/time-limit'
import { listChains } from './list-chains.ts'

const gweiDecimals = 9

/** Indexing progress of each chain, health of its endpoints in this process, and base fee of its next block. */
export async function showChains(ctx: EngineCtx) {
  const chains = ctx.chains.list()
  const [progress, fees, contracts] = await Promise.all([
    listChains(ctx),
    Promise.all(chains.map(baseFeeOf)),
    Promise.all(chains.map(problemsOf)),
  ])
  return progress.map((row, index) => ({
    ...row,
    rpc: chains[index]!.endpoints.health().map(showEndpoint),
    ...fees[index],
    ...contracts[index],
  }))
}

const showEndpoint = ({ host, errorsRatio, p50Ms, p95Ms, headNumber, lagBlocks }: EndpointHealth) => ({
  url: host,
  ...(p50Ms !== undefined && { p50Ms }),
  ...(p95Ms !== undefined && { p95Ms }),
  errorShare: errorsRatio,
  ...(headNumber !== undefined && { headNumber }),
  ...(lagBlocks !== undefined && { lagBlocks }),
})

async function problemsOf(chain: Chain) {
  const contracts = await resultWithin(headWaitMs, accountContracts(chain))
  if (!contracts) return {}
  const contractProblems = contracts.flatMap(({ name: contract, address, codeHash, problem }) =>
    problem ? { contract, address, codeHash, problem } : [],
  )
  return { contractProblems }
}

async function baseFeeOf(chain: Chain): Promise<{ baseFee?: string }> {
  if (chain.network.feeModel !== 'eip1559') return {}
  const fees = await resultWithin(headWaitMs, suggestedFees(chain))
  return fees ? { baseFee: formatAmount(fees.baseFeeAtomic, gweiDecimals) } : {}
}
