import type { NeededGas } from '#api/fees/show-fee'
import { networkFeeOf } from '#chains/prices'
import type { Ctx } from '#engines/ctx'
import {
  type CallRequest,
  estimateCovered,
  feeAt,
  feeMaxOf,
  suggestedFees,
} from '#engines/transactions/index'
import { formatAmount, smaller } from '#lib/amounts'
import { details } from './summarize.ts'
import type { SummaryLine } from './types.ts'

/** Room for a price that rises until the user has approved. */
const priceRoom = 2n

/** The line of the most that a call costs its user, and the limit that its transaction keeps. */
type FeeQuote = { lines: SummaryLine[]; feeMax?: string }

/**
 * Quotes the fee of a call whose price is left to the chain. The transaction is not signed above it, so the line is a promise.
 * Where no node answers, the limit of every transaction is shown.
 */
export async function quoteFee(ctx: Ctx, request: CallRequest): Promise<FeeQuote> {
  const { wallet, chain, fee, call } = request
  if (wallet.accountType === 'SCA') return { lines: details(['feePaid', 'Network fee', 'The app pays it']) }
  if (fee.feeLevel === undefined) return { lines: [] }
  const { decimals, symbol } = chain.network.nativeToken
  const most = feeMaxOf(chain.network)
  const shown = (atomic: bigint) =>
    details(['feeMax', 'Network fee at most', `${formatAmount(atomic, decimals)} ${symbol}`])
  const asked = await Promise.all([gasFor(ctx, request), suggestedFees(chain)]).catch((err) => {
    ctx.log.warn({ err, blockchain: wallet.blockchain, requestId: ctx.requestId }, 'no fee could be quoted')
    return undefined
  })
  const [needed, suggestion] = asked ?? []
  if (!needed || !suggestion) return { lines: shown(most) }
  const { gas, depositAtomic = 0n } = needed
  const { maxFeeAtomic: priceAtomic } = feeAt(suggestion, fee.feeLevel)
  const highest = networkFeeOf(chain.network.blockchain, { gasLimit: gas, priceAtomic })
  const quoted = roundedUp(priceRoom * highest)
  const atomic = smaller(quoted, most)
  // The fee that a parent chain takes for data is not a price of gas: the node's figure, with the same room.
  const dataFee = await chain.offers.parentFee(call, gas).catch(() => undefined)
  return {
    lines: shown(atomic + depositAtomic + roundedUp(priceRoom * (dataFee ?? 0n))),
    feeMax: atomic.toString(),
  }
}

async function gasFor(
  { db, entity }: Ctx,
  { fee, chain, wallet, call, shown }: CallRequest,
): Promise<NeededGas | undefined> {
  if (fee.gasLimit !== undefined) return { gas: fee.gasLimit }
  const estimate = await estimateCovered(db, chain, { entityId: entity.id, address: wallet.address }, call)
  if (estimate.kind === 'estimated')
    return { gas: chain.offers.quotedGas(estimate.gas), depositAtomic: estimate.depositAtomic }
  return shown.operation === 'TRANSFER' ? { gas: chain.offers.quotedGas(undefined) } : undefined
}

/** Two digits that count are enough for a limit. */
function roundedUp(atomic: bigint): bigint {
  const unit = 10n ** BigInt(Math.max(atomic.toString().length - 2, 0))
  return ((atomic + unit - 1n) / unit) * unit
}
