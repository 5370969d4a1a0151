import { parseAddress } from '#chains/address'
import type { Blockchain } from '#chains/blockchains'
import type { Chain } from '#chains/chain'
import type { Ctx } from '#engines/ctx'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { ApiError, invalid } from '#lib/errors'
import {
  requireAmount,
  requireChain,
  requireSource,
  requireToken,
  type TokenFields,
} from './transfer-request.ts'

export type EstimateBody = TokenFields & {
  walletId?: string
  sourceAddress?: string
  blockchain?: string
  destinationAddress: string
  amounts: string[]
}

const levels = ['LOW', 'MEDIUM', 'HIGH'] as const
const gweiDecimals = 9

/** What a transfer would cost at each level. The sender may be any address, also one that is not a wallet of ours. */
export async function estimateTransfer(ctx: Ctx, { body }: { body: EstimateBody }) {
  const source = await sourceOf(ctx, body)
  const chain = requireChain(ctx, source.blockchain)
  const token = await requireToken(ctx, body, source.blockchain)
  const amount = requireAmount(body.amounts, token, true)
  const destination = parseAddress(source.blockchain as Blockchain, body.destinationAddress)
  if (!destination)
    throw invalid(
      'destinationAddress',
      'is not an address of the blockchain',
      body.destinationAddress,
      'destinationAddressInvalid',
    )
  const call = chain.transferCall(
    destination as `0x${string}`,
    amount.atomic,
    (token.address ?? undefined) as `0x${string}` | undefined,
  )
  const estimate = await chain.estimateGas(source.address as `0x${string}`, call)
  if (estimate.kind === 'estimated') return feeTable(chain, estimate.gas)
  const kind =
    estimate.kind === 'reverted'
      ? 'estimateReverted'
      : estimate.kind === 'insufficient-funds'
        ? 'estimateExceedsBalance'
        : 'estimateFailed'
  throw new ApiError(kind, `The transfer cannot be done as asked: ${estimate.message.slice(0, 300)}`)
}

async function sourceOf(
  ctx: Ctx,
  { walletId, sourceAddress, blockchain }: EstimateBody,
): Promise<{ blockchain: string; address: string }> {
  if (walletId !== undefined && sourceAddress === undefined)
    return requireSource(ctx, { walletId, ...(blockchain !== undefined && { blockchain }) })
  if (walletId !== undefined)
    throw invalid(
      'sourceAddress',
      'cannot be combined with walletId',
      sourceAddress,
      'walletIdWithSourceAddress',
      'not_required',
    )
  if (sourceAddress === undefined)
    throw invalid(
      'walletId',
      'is missing: send it, or sourceAddress with blockchain',
      undefined,
      'invalidRequest',
      'required',
    )
  if (blockchain === undefined)
    throw invalid('blockchain', 'is missing beside sourceAddress', undefined, 'invalidRequest', 'required')
  const address = parseAddress(blockchain as Blockchain, sourceAddress)
  if (!address)
    throw invalid(
      'sourceAddress',
      'is not an address of the blockchain',
      sourceAddress,
      'sourceAddressInvalid',
    )
  return { blockchain, address }
}

/** Fees per gas in gwei, whole fees in native coins; with `gas`, also what the transaction comes to. */
export async function feeTable(chain: Chain, gas?: bigint) {
  const suggestion = await suggestedFees(chain)
  const gwei = (wei: bigint) => formatAmount(wei, gweiDecimals)
  const { decimals } = chain.network.nativeToken
  const rows = levels.map((level) => {
    const { baseFeeAtomic, priorityFeeAtomic, maxFeeAtomic } = feeAt(suggestion, level)
    const prices = chain.network.eip1559
      ? { baseFee: gwei(baseFeeAtomic), priorityFee: gwei(priorityFeeAtomic), maxFee: gwei(maxFeeAtomic) }
      : { gasPrice: gwei(baseFeeAtomic + priorityFeeAtomic) }
    if (gas === undefined) return [level.toLowerCase(), prices]
    const networkFee = formatAmount(gas * maxFeeAtomic, decimals)
    const networkFeeRaw = formatAmount(gas * (baseFeeAtomic + priorityFeeAtomic), decimals)
    return [level.toLowerCase(), { gasLimit: gas.toString(), ...prices, networkFee, networkFeeRaw }]
  })
  return Object.fromEntries(rows)
}
