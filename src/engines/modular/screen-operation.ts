import type { UserOperation } from '#chains/accounts'
import type { Address, Chain } from '#chains/chain'
import { screenRecipients } from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { counterpartiesOf } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'

/**
 * Refuses an operation that concerns an address that screening denies, and one that is not understood to its last byte: no
 * operator can decide about it before its page sends it.
 */
export async function requireAllowed(
  ctx: Ctx,
  chain: Chain,
  { account, callData }: UserOperation,
): Promise<void> {
  const decoded = chain.decodeCall({ to: account as Address, valueAtomic: 0n, data: callData })
  if (decoded.dangers.includes('undecodable'))
    throw new ApiError(
      'rpcOperationDenied',
      'Screening denies the operation: its call data is not understood to its last byte, and may pay any address.',
    )
  const scope = { ...ctx, db: ctx.database }
  const [decision] = await screenRecipients(scope, [counterpartiesOf(chain.network.blockchain, decoded)])
  if (decision?.actions.includes('DENY'))
    throw new ApiError('rpcOperationDenied', `Screening denies the operation (${decision.ruleName ?? ''}).`)
}
