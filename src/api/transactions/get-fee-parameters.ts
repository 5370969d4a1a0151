import { feeTable } from '#api/fees/estimate'
import { requireChain } from '#api/sources/connected-chain'
import { firstUsable } from '#api/sources/usable-chains'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'

/** Gets the fees of a blockchain. Clients may omit the name, so the answer names the blockchain. */
export async function getFeeParameters(ctx: Ctx, { query }: { query: { blockchain?: string } }) {
  const blockchain = query.blockchain ?? firstUsable(ctx)
  if (blockchain === undefined)
    throw invalid({
      at: 'blockchain',
      reason: 'is missing, and no blockchain is available to this key',
      error: 'required',
    })
  return { blockchain, ...(await feeTable(ctx, requireChain(ctx, blockchain))) }
}
