import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { UserOperation } from '#chains/facets/accounts'
import { askUntilKnown, screenRecipients } from '#engines/compliance/index'
import type { Ctx } from '#engines/ctx'
import { counterpartiesOf, counterpartiesOfCreation, recipientsOf } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'

/**
 * Refuses an operation that concerns an address that screening denies, and one that is not understood to its last byte: no
 * operator can decide about it before its page sends it.
 */
export async function requireAllowed(
  ctx: Ctx,
  chain: Chain,
  { account, callData, creation }: UserOperation,
): Promise<void> {
  const decoded = chain.payments.decodeCall({ to: account as Address, valueAtomic: 0n, data: callData })
  if (decoded.dangers.includes('undecodable'))
    throw new ApiError(
      'rpcOperationDenied',
      'Screening denies the operation: its call data is not understood to its last byte, and may pay any address.',
    )
  const scope = { ...ctx, db: ctx.database }
  const concerned = [
    ...counterpartiesOf(chain.network.blockchain, decoded),
    ...counterpartiesOfCreation(chain, { creation }),
  ]
  const [decision] = await screenRecipients(scope, [concerned])
  if (decision?.actions.includes('DENY'))
    throw new ApiError('rpcOperationDenied', `Screening denies the operation (${decision.ruleName ?? ''}).`)
}

/**
 * Asks the provider of screening about the recipients of an operation that its owner signed, and refuses what it denies or has not
 * answered: no operator can decide in its place. A client key alone, which is public, makes no provider be asked.
 */
export async function requireScreenedOperation(
  ctx: Ctx,
  chain: Chain,
  operation: UserOperation,
): Promise<void> {
  if (ctx.config.screeningUrl === undefined) return
  const { account, callData } = operation
  const decoded = chain.payments.decodeCall({ to: account as Address, valueAtomic: 0n, data: callData })
  if (!(await askUntilKnown(ctx, recipientsOf(chain.network.blockchain, decoded))))
    throw new ApiError(
      'rpcOperationDenied',
      'Screening has no answer of its provider about a recipient yet: try again.',
    )
  await requireAllowed(ctx, chain, operation)
}
