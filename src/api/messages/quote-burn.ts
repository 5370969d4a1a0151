import { canonicalAddress } from '#chains/addresses/canonical'
import type { BurnQuote, BurnQuotes } from '#chains/crosschain/fee-quotes'
import { forwardHookData, forwardHookOf } from '#chains/crosschain/forward-hook'
import { hookDataBytesMax } from '#chains/crosschain/message'
import { wordOfAddress } from '#chains/crosschain/native-address'
import {
  burnTokenOf,
  fastObstacle,
  type MessageChain,
  payeeOf,
  priceBurn,
  quotedSeconds,
  signedQuoteOf,
} from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { bytesOf, type Hex, isHex } from '#lib/hex'
import { messageChainIn, sourceOf } from './list-messages.ts'

type DeliveryParams = { hookData?: string; destinationCaller?: string }
type QuoteRequest = {
  amount: string
  feeToken?: string
  requests: { type: 'FORWARD' | 'PRE_FINALITY'; params?: DeliveryParams }[]
}

/** The quotes that the contract of a chain takes. */
export function quotesOf({ blockchain, crosschain }: MessageChain): BurnQuotes {
  if (crosschain.feeQuotes) return crosschain.feeQuotes
  throw unavailable(`${blockchain} has no contract of prepaid fees that this server knows`)
}

const unavailable = (reason: string) =>
  new ApiError(
    'feeQuotesUnavailable',
    `SERVICE_NOT_ENABLED: this server signs no quotes of fees for this chain: ${reason}. Burn with maxFee instead.`,
  )

export async function quoteBurn(
  ctx: Ctx,
  route: { source: string; destination: string },
  { amount: amountText, feeToken, requests }: QuoteRequest,
) {
  const source = sourceOf(ctx, route)
  const destination = messageChainIn(ctx, route.destination, 'destination')
  const quotes = quotesOf(source)
  const amount = BigInt(amountText)
  if (amount === 0n || amount >> 256n !== 0n)
    throw invalid({ at: 'amount', reason: 'must be above zero and below 2^256', value: amountText })
  if (source.domain === destination.domain)
    throw invalid({ at: 'destination', reason: 'must be another chain than the source' })
  requireFeeToken(source, feeToken)
  const fast = requests.findIndex(({ type }) => type === 'PRE_FINALITY')
  const forward = requests.findIndex(({ type }) => type === 'FORWARD')
  if (requests.some(({ type }, index) => index !== (type === 'FORWARD' ? forward : fast)))
    throw invalid({ at: 'requests', reason: 'must have each type once' })
  if (fast >= 0) await requireFast(ctx, source, amount)
  const delivery = forward < 0 ? undefined : deliveryOf(destination, forward, requests[forward]!.params ?? {})
  const payee = await payeeOf(ctx, source)
  if (payee === undefined)
    throw unavailable('no entity is set that pays for deliveries (BEZANT_CROSSCHAIN_ENTITY)')
  const asked = { source, destination, amount, isFast: fast >= 0, delivery }
  const quote = await priceBurn(ctx, quotes, payee, asked)
  const signedQuote = await signedQuoteOf(ctx, quotes, quote)
  if (signedQuote === undefined)
    throw unavailable('no key signs them (bezant attestation-keys create --purpose quote)')
  return {
    ...shownQuote(quote, signedQuote),
    issuedAt: Number(quote.expiresAt) - quotedSeconds,
    expiry: { mode: 'TIMESTAMP', expiresAt: Number(quote.expiresAt) },
    items: requests.map(({ type }) => ({ type, ...itemOf(quotes, quote, type, delivery) })),
  }
}

type QuotedDelivery = { destinationCaller: Hex; hookData: Hex; isExecuted: boolean }

const itemOf = (
  quotes: BurnQuotes,
  quote: BurnQuote,
  type: 'FORWARD' | 'PRE_FINALITY',
  delivery: QuotedDelivery | undefined,
) =>
  type === 'PRE_FINALITY' || !delivery
    ? {
        amount: String(quote.fastFee),
        args: [String(quote.amount)],
        argsHash: quotes.amountArgs(quote.amount),
      }
    : {
        amount: String(quote.forwardFee),
        args: [delivery.hookData, delivery.destinationCaller],
        argsHash: quote.forwardArgs,
      }

/** The fields of a quote that both operations show. */
export const shownQuote = ({ fastFee, forwardFee, feeToken, nonce }: BurnQuote, signedQuote: Hex) => ({
  signedQuote,
  feeTotalAmount: String(fastFee + forwardFee),
  feeToken,
  nonce: String(nonce),
})

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

async function requireFast(ctx: Ctx, source: MessageChain, amount: bigint): Promise<void> {
  const obstacle = await fastObstacle(ctx, source, amount)
  if (obstacle === 'amount') throw new ApiError('fastQuoteUnavailable')
  if (obstacle === 'allowance') throw new ApiError('fastAllowanceShort')
}

const zeroAddress = `0x${'0'.repeat(40)}`

/** The delivery of a request, whose hook data has to ask for one that this server makes. */
function deliveryOf(
  { blockchain, crosschain }: MessageChain,
  index: number,
  { hookData: givenHook = forwardHookData, destinationCaller = zeroAddress }: DeliveryParams,
): QuotedDelivery {
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
  return { destinationCaller: wordOfAddress(caller), hookData, isExecuted: hook.isExecuted }
}
