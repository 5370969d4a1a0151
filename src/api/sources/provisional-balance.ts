import { requireChain } from '#api/sources/connected-chain'
import { requireSource, type SourceFields } from '#api/sources/source'
import type { Ctx } from '#engines/ctx'
import { syncBalances } from '#engines/indexer/reconciliation/index'
import { holdsAreSettled } from '#engines/transactions/index'
import type { Provisional } from '#runtime/http/endpoint'

/**
 * A wallet's lack of coins is provisional until the wallet is compared with its chain, since coins also come without a
 * transfer, and until holds of coins that already left are released.
 */
export const provisionalBalance: Provisional<Ctx> = {
  errors: ['insufficientBalance'],
  settlement: async (ctx, input) => {
    const { body } = input as { body: SourceFields }
    const { blockchain, address } = await requireSource(ctx, body)
    const owner = { entityId: ctx.entity.id, address }
    await syncBalances(ctx, requireChain(ctx, blockchain), owner).catch((error) =>
      ctx.log.warn({ err: error, ...owner, blockchain }, 'balances not compared'),
    )
    return () => holdsAreSettled(ctx.database, blockchain)
  },
}
