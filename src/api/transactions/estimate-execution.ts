import { type ExecutionFields, requireCall } from '#api/calls/execution-request'
import { type EstimateSource, estimateSource, estimateTable } from '#api/fees/estimate'
import { requireChain } from '#api/sources/connected-chain'
import type { Ctx } from '#engines/ctx'
import { errorsOfCall } from '#engines/transactions/index'

/** Estimates the cost of a contract call at each fee level, for any sender; without signature and data, a plain call. */
export async function estimateExecution(ctx: Ctx, { body }: { body: EstimateSource & ExecutionFields }) {
  const source = await estimateSource(ctx, body)
  const chain = requireChain(ctx, source.blockchain)
  const call = requireCall(chain, body, { neither: true })
  const errors = await errorsOfCall(ctx.db, chain, { entityId: ctx.entity.id, callTo: call.to })
  return estimateTable(ctx, chain, source, call, errors)
}
