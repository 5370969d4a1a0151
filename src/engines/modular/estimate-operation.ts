import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { OperationGas, UserOperation } from '#chains/facets/accounts'
import { accountsOn } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import { findSponsor, operationGasMax } from '#engines/transactions/operations/index'
import { ApiError } from '#lib/errors'
import { pricedPreVerificationGas, verificationGasOf } from './operation-gas.ts'
import { isPaidInUsdc } from './pay-in-usdc.ts'
import { rejection } from './rejection.ts'

/** Gas for the verification by a paymaster of others that names no limit, and the most that an estimate executes. */
const paymasterGas = 300_000n
const paymasterGasMax = 1_000_000n
/** The same for the paymaster that takes USDC, which has the account verify a permit, and its gas for returning the rest. */
const usdcPaymasterGas = { verification: 700_000n, postOp: 35_000n }

type EstimatedOperation = OperationGas & {
  sponsorship?: { verificationGas: bigint; postOpGas: bigint }
}

/**
 * Estimates the gas of an operation whose signature stands in for one that its owner makes later (ERC-7769). Throws the error
 * of `sendOperation` when its validation fails, and `rpcExecutionReverted` when its call does.
 */
export async function estimateOperation(
  ctx: Ctx,
  chain: Chain,
  operation: UserOperation,
): Promise<EstimatedOperation> {
  const usual = withUsualGas(operation, await isPaidInUsdc(ctx, chain, operation))
  await requireValidated(ctx, chain, usual, operation)
  const call = await accountsOn(chain).modular.estimateCall(operation)
  if (call.kind === 'unknown') throw new ApiError('rpcNodeUnavailable')
  if (call.kind !== 'estimated') {
    const revertData = call.kind === 'reverted' ? call.data : undefined
    const message = `The call of the operation fails: ${call.message}`
    throw new ApiError('rpcExecutionReverted', message, [], revertData && { revertData })
  }
  const { estimated } = await pricedPreVerificationGas(chain, operation)
  return {
    preVerificationGas: estimated,
    verificationGas: verificationGasOf(operation),
    callGas: call.gas,
    ...(usual.sponsorship && { sponsorship: usual.sponsorship }),
  }
}

const atMost = (gas: bigint, max: bigint) => (gas < max ? gas : max)

/** The operation with gas for what it leaves open. It costs nothing while a part of its gas is unknown. */
function withUsualGas(operation: UserOperation, isInUsdc: boolean): UserOperation {
  const { callGas, verificationGas, preVerificationGas: overhead, sponsorship } = operation
  const limits = [callGas, verificationGas, overhead, ...(sponsorship ? [sponsorship.verificationGas] : [])]
  const isKnown = limits.every((limit) => limit > 0n)
  return {
    ...operation,
    ...(!isKnown && { maxFeeAtomic: 0n, priorityFeeAtomic: 0n }),
    verificationGas: atMost(verificationGas || verificationGasOf(operation), operationGasMax),
    sponsorship: sponsorship && {
      ...sponsorship,
      verificationGas: atMost(
        sponsorship.verificationGas || (isInUsdc ? usdcPaymasterGas.verification : paymasterGas),
        paymasterGasMax,
      ),
      postOpGas: sponsorship.postOpGas || (isInUsdc ? usdcPaymasterGas.postOp : 0n),
    },
  }
}

/** Codes of the EntryPoint for the creation of an account, its validation and that of a paymaster. */
const ofValidation = /^AA[123]/
/** Answers of an account or a paymaster about signatures, which are still to be made, and about the times of these. */
const ofSignatures = /^AA[23][24]/
const ofAccount = /^AA23/

async function requireValidated(
  { database, entity }: Ctx,
  chain: Chain,
  operation: UserOperation,
  { signature }: UserOperation,
): Promise<void> {
  const sponsor = await findSponsor(database, entity.id, chain.network.blockchain)
  const address = sponsor?.address as Address | undefined
  const isOurs = address && accountsOn(chain).paymasterOf(address).address === operation.sponsorship?.address
  const outcome = await accountsOn(chain).modular.simulate(operation, isOurs ? address : undefined)
  if (outcome.kind === 'passes') return
  if (outcome.kind !== 'failed') throw new ApiError('rpcNodeUnavailable')
  const { reason } = outcome
  if (!ofValidation.test(reason) || ofSignatures.test(reason)) return
  // Accounts may revert where they find no signature to read.
  if (signature === '0x' && ofAccount.test(reason)) return
  throw rejection(operation, reason)
}
