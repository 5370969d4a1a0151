import type { Chain } from '#chains/chain'
import type { Ctx } from '#engines/ctx'
import { accountTrouble } from '#engines/transactions/operations/index'
import { ApiError } from '#lib/errors'

/** Throws unless the contracts of modular wallets on a chain are known, or pinned by the operator. */
export async function requireContracts(ctx: Ctx, chain: Chain): Promise<void> {
  if ((await accountTrouble(ctx, chain, 'modular')) !== undefined) throw new ApiError('rpcContractsUnknown')
}
