/**
 * Operations whose accounts pay for the gas themselves, in USDC, through a paymaster that takes it. The treasury bundles them, and the
 * EntryPoint pays it back from the deposit of that paymaster: they have to offer what the bundle costs.
 */

import { canonicalAddress } from '#chains/addresses/canonical'
import type { Chain } from '#chains/chain'
import type { UnsignedOperation, UserOperation } from '#chains/facets/accounts'
import type { FeeSuggestion } from '#chains/facets/offers'
import { accountsOn } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import { feeAt, priceNow, suggestedFees } from '#engines/transactions/index'
import { findUsdcPaymaster, operationGasMax } from '#engines/transactions/operations/index'
import type { ApiError } from '#lib/errors'
import { badOperation, pricedPreVerificationGas } from './operation-gas.ts'

/** Whether an operation names a paymaster that takes USDC on this chain: the published one, or that of the entity. */
export async function isPaidInUsdc(
  { database, entity }: Ctx,
  { network: { blockchain, usdcPaymaster } }: Chain,
  { sponsorship }: Pick<UnsignedOperation, 'sponsorship'>,
): Promise<boolean> {
  if (!sponsorship) return false
  if (usdcPaymaster !== undefined && sponsorship.address === canonicalAddress(usdcPaymaster)) return true
  return sponsorship.address === (await findUsdcPaymaster(database, entity.id, blockchain))
}

/** Refuses an operation that offers less than its bundle costs now, and one with more gas for its paymaster than a bundle has room for. */
export async function requirePaying(chain: Chain, operation: UserOperation): Promise<void> {
  // The owner may have read the newest block: a price that is cached is not a reason to refuse.
  if (lowPriceIn(operation, await suggestedFees(chain))) {
    const problem = lowPriceIn(operation, await suggestedFees(chain, { maxAgeMs: 0 }))
    if (problem) throw problem
  }
  const { ofData } = await pricedPreVerificationGas(chain, operation)
  const gas = accountsOn(chain).gasLimitOf(operation)
  if (gas > operationGasMax + ofData)
    throw badOperation(
      'paymasterVerificationGasLimit',
      `makes ${gas} gas with the other limits, and an operation may use ${operationGasMax + ofData}`,
    )
}

function lowPriceIn(operation: UserOperation, suggestion: FeeSuggestion): ApiError | undefined {
  const low = feeAt(suggestion, 'LOW')
  const least = priceNow(suggestion, low)
  const hint = 'take a price of circle_getUserOperationGasPrice'
  if (operation.maxFeeAtomic < least)
    return badOperation('maxFeePerGas', `must be at least ${least}: ${hint}`)
  if (operation.priorityFeeAtomic < low.priorityFeeAtomic)
    return badOperation('maxPriorityFeePerGas', `must be at least ${low.priorityFeeAtomic}: ${hint}`)
  return undefined
}
