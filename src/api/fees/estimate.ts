import { requireSource } from '#api/sources/source'
import { parseAddress } from '#chains/address'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import type { Chain } from '#chains/chain'
import type { AbiError } from '#chains/facets/contracts'
import { accountsOn, contractsOn } from '#chains/facets/optional'
import type { Call } from '#chains/facets/payments'
import { findWalletByAddress, type Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { estimateCovered, feeAt, priceNow, suggestedFees } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import type { ErrorName } from '#lib/error-kinds'
import { ApiError, invalid } from '#lib/errors'
import { readableBy } from '#runtime/row-owner'
import { type NeededGas, showFee } from './show-fee.ts'

export type EstimateSource = { walletId?: string; sourceAddress?: string; blockchain?: string }

/** The sender of an estimate. An address that is no wallet here counts as the address of a key. */
type EstimatedSource = Pick<Wallet, 'blockchain' | 'address' | 'accountType'>

const levels = ['LOW', 'MEDIUM', 'HIGH'] as const

/** The sender of an estimate: a wallet, or any address, also one that is not a wallet here. */
export async function estimateSource(
  ctx: Ctx,
  { walletId, sourceAddress, blockchain }: EstimateSource,
): Promise<EstimatedSource> {
  if (walletId !== undefined && sourceAddress === undefined)
    return requireSource(
      ctx,
      { walletId, ...(blockchain !== undefined && { blockchain }) },
      findWalletByAddress,
      readableBy(ctx),
    )
  if (walletId !== undefined)
    throw invalid({
      at: 'sourceAddress',
      reason: 'cannot be combined with walletId',
      value: sourceAddress,
      kind: 'walletIdWithSourceAddress',
      error: 'not_required',
    })
  if (sourceAddress === undefined)
    throw invalid({
      at: 'walletId',
      reason: 'is missing: send it, or sourceAddress with blockchain',
      error: 'required',
    })
  if (blockchain === undefined)
    throw invalid({ at: 'blockchain', reason: 'is missing: send it with sourceAddress', error: 'required' })
  const address = parseAddress(blockchain as Blockchain, sourceAddress)
  if (!address)
    throw invalid({
      at: 'sourceAddress',
      reason: 'is not an address of the blockchain',
      value: sourceAddress,
      kind: 'sourceAddressInvalid',
    })
  const wallet = await findWalletByAddress(ctx.db, readableBy(ctx), blockchain, address)
  return { blockchain, address, accountType: wallet?.accountType ?? 'EOA' }
}

/** The cost of a call at each fee level, or the documented error when it would fail. `errors` are those of its contract. */
export async function estimateTable(
  ctx: Ctx,
  chain: Chain,
  { address: from, accountType }: EstimatedSource,
  call: Call,
  errors: readonly AbiError[] = [],
) {
  const estimate = await answered(
    ctx,
    chain,
    estimateCovered(ctx.db, chain, { entityId: ctx.entity.id, address: from }, call, errors),
  )
  if (estimate.kind === 'estimated') {
    const { gas } = estimate
    if (accountType === 'SCA') return operationTable(ctx, chain, from, call, gas)
    const parentFee = await answered(ctx, chain, chain.offers.parentFee(call, gas))
    return feeTable(ctx, chain, { gas, depositAtomic: estimate.depositAtomic }, parentFee)
  }
  if (estimate.kind === 'unknown') return answered(ctx, chain, Promise.reject(new Error(estimate.message)))
  const kind =
    estimate.kind === 'reverted'
      ? 'estimateReverted'
      : estimate.kind === 'insufficient-funds'
        ? 'estimateExceedsBalance'
        : 'estimateFailed'
  throw new ApiError(kind, `The transaction cannot be executed: ${estimate.message.slice(0, 400)}`)
}

/** The cost of a user operation at each fee level, with its parts: its gas is that of the call and of what checks it. */
async function operationTable(ctx: Ctx, chain: Chain, account: Address, call: Call, gas: bigint) {
  const { to, valueAtomic, data } = call
  if (to === undefined) throw new ApiError('accountTypeUnsupported')
  const isDeployed = await answered(ctx, chain, contractsOn(chain).hasCode(account))
  const asked = { account, isDeployed, call: { to, valueAtomic, data }, gas }
  const suggestion = await answered(ctx, chain, suggestedFees(chain))
  // At the lowest price, at which the fee for data is the most gas.
  const price = priceNow(suggestion, feeAt(suggestion, 'LOW'))
  const dataGas = await answered(ctx, chain, accountsOn(chain).dataGasOf(asked, price))
  const parts = accountsOn(chain).gasOf({ ...asked, dataGas })
  const ofParts = parts.callGas + parts.verificationGas + parts.preVerificationGas
  const table = await feeTable(ctx, chain, { gas: ofParts })
  return {
    ...table,
    callGasLimit: parts.callGas.toString(),
    verificationGasLimit: parts.verificationGas.toString(),
    preVerificationGas: parts.preVerificationGas.toString(),
  }
}

/** The answer of a node. A missing or invalid one becomes the error `unavailable`: it is not the caller's fault. */
export const answered = <Answer>(ctx: Ctx, chain: Chain, asking: Promise<Answer>): Promise<Answer> =>
  asking.catch((error) => {
    throw unanswered(ctx, chain, error, 'unavailable')
  })

/**
 * Logs that a node does not answer, and returns the error of this kind for the caller, or an error of the server's own.
 */
export function unanswered(ctx: Ctx, { network }: Chain, error: unknown, kind: ErrorName): ApiError {
  if (error instanceof ApiError) return error
  const { blockchain } = network
  ctx.log.warn({ err: error, blockchain, requestId: ctx.requestId }, 'a node does not answer a request')
  return new ApiError(kind, `The node of ${blockchain} does not answer: try again in a moment.`)
}

/** The prices at each level; with what is needed, also the fee of the whole transaction. */
export async function feeTable(ctx: Ctx, chain: Chain, needed?: NeededGas, parentFeeAtomic?: bigint) {
  const suggestion = await answered(ctx, chain, suggestedFees(chain))
  const { network } = chain
  const l1Fee = parentFeeAtomic !== undefined && {
    l1Fee: formatAmount(parentFeeAtomic, network.nativeToken.decimals),
  }
  const rows = levels.map((level) => {
    const tier = showFee(network, feeAt(suggestion, level), needed)
    return [level.toLowerCase(), { ...tier, ...l1Fee }]
  })
  return Object.fromEntries(rows)
}
