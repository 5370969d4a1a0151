import { accountsOn } from '#chains/facets/optional'
/**
 * The gas and the price that a sponsor pays for. A client key is public: each part that the EntryPoint charges is bounded by what
 * an operation of the client's accounts needs on this chain now.
 */

import type { Chain } from '#chains/chain'
import type { PreVerificationGas, UserOperation } from '#chains/facets/accounts'
import { feeAt, priceNow, suggestedFees } from '#engines/transactions/index'
import { operationGasMax, sponsoredPriceMax } from '#engines/transactions/operations/index'
import { ApiError } from '#lib/errors'
import { bytesOf } from '#lib/hex'

/** Gas for the verification of one signature of a passkey, and the same with the creation of the account. */
export const verificationGas = { deployed: 600_000n, notDeployed: 1_500_000n }
/** The same for each further passkey, and the bytes of its signature. */
const furtherGas = 350_000n
const furtherBytes = 600

/** The gas that the code of an account needs to verify a signature of this size. */
export const verificationGasOf = ({ creation, signature }: UserOperation): bigint =>
  (creation ? verificationGas.notDeployed : verificationGas.deployed) +
  furtherGas * BigInt(Math.floor(bytesOf(signature).length / furtherBytes))

/** A limit may be a quarter above the estimate. */
const withQuarter = (gas: bigint): bigint => gas + gas / 4n

/** The gas of an operation that none of its limits measures, at its price, or at the suggested one where it names none. */
export async function pricedPreVerificationGas(
  chain: Chain,
  operation: UserOperation,
): Promise<PreVerificationGas> {
  const suggestion = await suggestedFees(chain)
  const offer = operation.maxFeeAtomic > 0n ? operation : feeAt(suggestion, 'MEDIUM')
  return accountsOn(chain).modular.preVerificationGas(operation, priceNow(suggestion, offer))
}

/** Whether an operation has no limits yet: it is asked about so that they can be estimated. */
export const isWithoutGas = (operation: UserOperation): boolean =>
  operation.callGas === 0n && operation.verificationGas === 0n && operation.preVerificationGas === 0n

/** Refuses limits that leave out gas which the treasury pays, and those that no bundle has room for. */
export async function requireGas(chain: Chain, operation: UserOperation): Promise<PreVerificationGas> {
  const needed = await pricedPreVerificationGas(chain, operation)
  const { least, ofData } = needed
  if (operation.preVerificationGas < least)
    throw badOperation(
      'preVerificationGas',
      `must be at least ${least}: take that of eth_estimateUserOperationGas`,
    )
  if (operation.callGas === 0n) throw badOperation('callGasLimit', 'must be above 0')
  if (operation.verificationGas === 0n) throw badOperation('verificationGasLimit', 'must be above 0')
  const gas = accountsOn(chain).gasLimitOf({ ...operation, sponsorship: undefined })
  // The gas of data is a fee: it takes no room in a block.
  if (gas > operationGasMax + ofData)
    throw badOperation(
      'callGasLimit',
      `makes ${gas} gas with the other limits, and an operation may use ${operationGasMax + ofData}`,
    )
  return needed
}

/** Refuses what a sponsor would pay for nothing: a price or limits above what the operation needs. */
export async function requireSponsorable(chain: Chain, operation: UserOperation): Promise<void> {
  const { most } = await requireGas(chain, operation)
  if (operation.preVerificationGas > most)
    throw badOperation(
      'preVerificationGas',
      `must be at most ${most}: take that of eth_estimateUserOperationGas`,
    )
  const { maxFeeAtomic, priorityFeeAtomic } = operation
  const priceMax = sponsoredPriceMax(await suggestedFees(chain))
  if (maxFeeAtomic > priceMax)
    throw badOperation(
      'maxFeePerGas',
      `must be at most ${priceMax}: take a price of circle_getUserOperationGasPrice`,
    )
  if (priorityFeeAtomic > maxFeeAtomic)
    throw badOperation('maxPriorityFeePerGas', 'must not be above maxFeePerGas')
  if (maxFeeAtomic === 0n) throw badOperation('maxFeePerGas', 'must be above 0')
}

/** Refuses more gas for verification than the code of an account needs, once the operation is known to be of one. */
export function requireVerification(operation: UserOperation): void {
  const max = withQuarter(verificationGasOf(operation))
  if (operation.verificationGas > max)
    throw badOperation(
      'verificationGasLimit',
      `must be at most ${max}: take that of eth_estimateUserOperationGas`,
    )
}

/** The error for a field of an operation. */
export const badOperation = (name: string, reason: string) =>
  new ApiError('rpcParamsInvalid', `Invalid params: params[0].${name} ${reason}.`)
