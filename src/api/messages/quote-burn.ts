import { canonicalAddress } from '#chains/addresses/canonical'
import type { BurnQuotes } from '#chains/crosschain/fee-quotes'
import { forwardHookData, forwardHookOf } from '#chains/crosschain/forward-hook'
import { hookDataBytesMax } from '#chains/crosschain/message'
import { wordOfAddress } from '#chains/crosschain/native-address'
import { type AskedDelivery, burnTokenOf, type MessageChain, usdcFees } from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { bytesOf, isHex } from '#lib/hex'
import {
  quotedAmount,
  quotedItems,
  quotedRoute,
  quotesUnavailable,
  requireFast,
  signQuoted,
} from './sign-quote.ts'

type DeliveryParams = { hookData?: string; destinationCaller?: string }
type QuoteRequest = {
  amount: string
  feeToken?: string
  requests: { type: 'FORWARD' | 'PRE_FINALITY'; params?: DeliveryParams }[]
}

/** The quotes that the contract of a chain takes. */
export function quotesOf({ blockchain, crosschain }: MessageChain): BurnQuotes {
  if (crosschain.feeQuotes) return crosschain.feeQuotes
  throw quotesUnavailable(`${blockchain} has no contract of prepaid fees that this server knows`)
}

export async function quoteBurn(
  ctx: Ctx,
  route: { source: string; destination: string },
  { amount: amountText, feeToken, requests }: QuoteRequest,
) {
  const { source, destination } = quotedRoute(ctx, route)
  const quotes = quotesOf(source)
  const amount = quotedAmount(amountText)
  requireFeeToken(source, feeToken)
  const { fast, forward } = quotedItems(requests)
  if (fast >= 0) await requireFast(ctx, source, amount)
  const delivery = forward < 0 ? undefined : deliveryOf(destination, forward, requests[forward]!.params ?? {})
  const coins = { token: burnTokenOf(source), feeCoin: usdcFees(source) }
  const asked = { source, destination, ...coins, amount, isFast: fast >= 0, delivery }
  return signQuoted(ctx, quotes, asked, requests)
}

function requireFeeToken(source: MessageChain, feeToken: string | undefined): void {
  const token = burnTokenOf(source)
  if (feeToken === undefined || canonicalAddress(feeToken) === token) return
  throw invalid({
    at: 'feeToken',
    reason: `must be ${token}, USDC on ${source.blockchain}: fees are not taken in native coins`,
    value: feeToken,
    kind: 'feeTokenUnsupported',
  })
}

const zeroAddress = `0x${'0'.repeat(40)}`

/** The delivery of a request, whose hook data has to ask for one that this server makes. */
function deliveryOf(
  { blockchain, crosschain }: MessageChain,
  index: number,
  { hookData: givenHook = forwardHookData, destinationCaller = zeroAddress }: DeliveryParams,
): AskedDelivery {
  const at = (name: string) => `requests[${index}].params.${name}`
  const hookData = givenHook.toLowerCase()
  const isFit = isHex(hookData) && bytesOf(hookData).length <= hookDataBytesMax
  const hook = isFit ? forwardHookOf(hookData) : undefined
  if (!isFit || !hook)
    throw invalid({
      at: at('hookData'),
      reason: `must ask for the delivery: the text cctp-forward, zeros up to 24 bytes, and a version and a length of four bytes each; at most ${hookDataBytesMax} bytes`,
    })
  const executor = crosschain.addresses.genericExecutor
  if (hook.isExecuted && executor === undefined)
    throw invalid({
      at: at('hookData'),
      reason: `is for an executor of messages, of which this server knows none on ${blockchain}`,
    })
  const caller = canonicalAddress(destinationCaller)
  if (caller !== (hook.isExecuted ? executor : zeroAddress))
    throw invalid({
      at: at('destinationCaller'),
      reason: hook.isExecuted
        ? `must be ${executor}, the executor on ${blockchain}, which this hook data is for`
        : 'must be zero, so that this server can deliver the message',
      value: destinationCaller,
    })
  if (hook.isExecuted && crosschain.feeQuotes?.isExecutable(hookData) !== true)
    throw invalid({
      at: at('hookData'),
      reason: `must have a call behind the request that the executor on ${blockchain} can read, with an account for recovery`,
    })
  const { isExecuted } = hook
  return { destinationCaller: wordOfAddress(caller), hookData, isExecuted, boundTo: hookData }
}
