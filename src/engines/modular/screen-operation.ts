import type { UserOperation } from '#chains/accounts'
import type { Chain } from '#chains/chain'
import { screenRecipients } from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { recipientsOf } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'

/** Refuses an operation that pays or calls an address that screening denies. */
export async function requireAllowed(
  ctx: Ctx,
  chain: Chain,
  { account, callData }: UserOperation,
): Promise<void> {
  const addresses = recipientsOf(chain, { to: account, valueAtomic: 0n, data: callData })
  const scope = { ...ctx, db: ctx.database }
  const [decision] = await screenRecipients(scope, [{ blockchain: chain.network.blockchain, addresses }])
  if (decision?.actions.includes('DENY'))
    throw new ApiError('rpcOperationDenied', `Screening denies the operation (${decision.ruleName ?? ''}).`)
}
