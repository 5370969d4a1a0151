import { canonicalAddress } from '#chains/addresses/canonical'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { zeroWord } from '#chains/crosschain/native-address'
import {
  type AskedDelivery,
  burnTokenOf,
  type FeeCoin,
  type MessageChain,
  type MovedToken,
  movedTokens,
  nativeFees,
  usdcFees,
} from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { isHex } from '#lib/hex'
import {
  quotedAmount,
  quotedItems,
  quotedRoute,
  quotesUnavailable,
  requireFast,
  signQuoted,
} from './sign-quote.ts'

type TransferQuoteRequest = {
  amount: string
  feeToken?: string
  requests: { type: 'FORWARD' | 'PRE_FINALITY'; params?: { msgType?: string; destinationAddress?: string } }[]
}

/** Quotes the fees of a transfer by the token service: a burn of a token that an id names. */
export async function quoteTransfer(
  ctx: Ctx,
  { tokenId: named, ...route }: { tokenId: string; source: string; destination: string },
  { amount: amountText, feeToken, requests }: TransferQuoteRequest,
) {
  const moved = movedTokens(ctx).find(({ id }) => id === named.toLowerCase())
  if (!moved) throw new ApiError('messageTokenUnknown')
  const { source, destination } = quotedRoute(ctx, route)
  const token = placeOn(moved, source, 'source').address
  placeOn(moved, destination, 'destination')
  const quotes = source.crosschain.tokenQuotes
  if (!quotes) throw quotesUnavailable(`${source.blockchain} has no token service`)
  const amount = quotedAmount(amountText)
  const feeCoin = feeCoinOf(ctx, source, feeToken)
  const { fast, forward } = quotedItems(requests)
  if (fast >= 0) await requireFast(ctx, source, amount)
  const delivery = forward < 0 ? undefined : deliveryTo(destination, forward, requests[forward]!.params ?? {})
  const asked = { source, destination, token, feeCoin, amount, isFast: fast >= 0, delivery }
  return signQuoted(ctx, quotes, asked, requests)
}

function placeOn({ symbol, places }: MovedToken, { domain, blockchain }: MessageChain, at: string) {
  const place = places.find(({ chain }) => chain.domain === domain)
  if (place) return place
  throw invalid({
    at,
    reason: `is the domain of ${blockchain}, which this server moves no ${symbol} from or to: see GET /v2/cctpx/tokens`,
    kind: 'messageTokenElsewhere',
  })
}

const nativeToken = `0x${'0'.repeat(40)}`

/** The coin that pays the fees: the native one, unless the request names USDC of the source. */
function feeCoinOf(ctx: Ctx, source: MessageChain, feeToken = nativeToken): FeeCoin {
  const token = canonicalAddress(feeToken)
  if (token === burnTokenOf(source)) return usdcFees(source)
  const native = token === nativeToken ? nativeFees(ctx, source) : undefined
  if (native) return native
  const { symbol } = source.chain.network.nativeToken
  const instead = `${burnTokenOf(source)}, USDC on ${source.blockchain}`
  throw invalid({
    at: 'feeToken',
    reason:
      token === nativeToken
        ? `must be ${instead}: no price of ${symbol} is set (BEZANT_COIN_PRICES)`
        : `must be zero for the native coin, or ${instead}`,
    value: feeToken,
    kind: 'nativeFeeUnsupported',
  })
}

/** A delivery that any account can make, for the receiver that the quote is bound to. */
function deliveryTo(
  { blockchain, crosschain }: MessageChain,
  index: number,
  { msgType = 'TransferMessage', destinationAddress = '' }: { msgType?: string; destinationAddress?: string },
): AskedDelivery {
  const at = (name: string) => `requests[${index}].params.${name}`
  if (msgType !== 'TransferMessage')
    throw invalid({ at: at('msgType'), reason: 'must be TransferMessage', value: msgType })
  const to = canonicalAddress(destinationAddress)
  if (!isHex(to, 20) || to === nativeToken)
    throw invalid({
      at: at('destinationAddress'),
      reason: 'must be an address of 20 bytes that is not zero: the account that receives the token',
      value: destinationAddress,
    })
  if (to === crosschain.addresses.genericExecutor)
    throw invalid({
      at: at('destinationAddress'),
      reason: `must not be the executor of messages on ${blockchain}, which uses USDC alone`,
      value: destinationAddress,
    })
  return { destinationCaller: zeroWord, hookData: forwardHookData, isExecuted: false, boundTo: to }
}
