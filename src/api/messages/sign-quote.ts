/** Signed quotes of fees: the parts that those of all burns have in common. */
import type { BurnQuote, BurnQuotes } from '#chains/crosschain/fee-quotes'
import {
  type AskedDelivery,
  type AskedQuote,
  fastObstacle,
  type MessageChain,
  payeeOf,
  priceBurn,
  quotedSeconds,
  signedQuoteOf,
} from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { messageChainIn, sourceOf } from './list-messages.ts'

type QuotedItem = { type: 'FORWARD' | 'PRE_FINALITY' }

export const quotesUnavailable = (reason: string) =>
  new ApiError(
    'feeQuotesUnavailable',
    `SERVICE_NOT_ENABLED: this server signs no quotes of fees for this chain: ${reason}. Burn with maxFee instead.`,
  )

/** The two chains of a burn that is quoted, which differ. */
export function quotedRoute(ctx: Ctx, route: { source: string; destination: string }) {
  const source = sourceOf(ctx, route)
  const destination = messageChainIn(ctx, route.destination, 'destination')
  if (source.domain === destination.domain)
    throw invalid({ at: 'destination', reason: 'must be another chain than the source' })
  return { source, destination }
}

export function quotedAmount(text: string): bigint {
  const amount = BigInt(text)
  if (amount > 0n && amount >> 256n === 0n) return amount
  throw invalid({ at: 'amount', reason: 'must be above zero and below 2^256', value: text })
}

/** The places of the two requests, -1 for one that is absent. */
export function quotedItems(requests: readonly QuotedItem[]): { fast: number; forward: number } {
  const fast = requests.findIndex(({ type }) => type === 'PRE_FINALITY')
  const forward = requests.findIndex(({ type }) => type === 'FORWARD')
  if (requests.some(({ type }, index) => index !== (type === 'FORWARD' ? forward : fast)))
    throw invalid({ at: 'requests', reason: 'must have each type once' })
  return { fast, forward }
}

/** Refuses a burn that would not be attested before it is final now. */
export async function requireFast(ctx: Ctx, source: MessageChain, amount: bigint): Promise<void> {
  const obstacle = await fastObstacle(ctx, source, amount)
  if (obstacle === 'amount') throw new ApiError('fastQuoteUnavailable')
  if (obstacle === 'allowance') throw new ApiError('fastAllowanceShort')
}

/** The answer with the signed quote. */
export async function signQuoted(
  ctx: Ctx,
  quotes: BurnQuotes,
  asked: AskedQuote,
  requests: readonly QuotedItem[],
) {
  const payee = await payeeOf(ctx, asked.source)
  if (payee === undefined)
    throw quotesUnavailable('no entity is set that pays for deliveries (BEZANT_CROSSCHAIN_ENTITY)')
  const quote = await priceBurn(ctx, quotes, payee, asked)
  const signedQuote = await signedQuoteOf(ctx, quotes, quote)
  if (signedQuote === undefined)
    throw quotesUnavailable('no key signs them (bezant attestation-keys create --purpose quote)')
  return {
    ...shownQuote(quote, signedQuote),
    issuedAt: Number(quote.expiresAt) - quotedSeconds,
    expiry: { mode: 'TIMESTAMP', expiresAt: Number(quote.expiresAt) },
    items: requests.map(({ type }) => ({ type, ...itemOf(quotes, quote, type, asked.delivery) })),
  }
}

const itemOf = (
  quotes: BurnQuotes,
  quote: BurnQuote,
  type: QuotedItem['type'],
  delivery: AskedDelivery | undefined,
) =>
  type === 'PRE_FINALITY' || !delivery
    ? {
        amount: String(quote.fastFee),
        args: [String(quote.amount)],
        argsHash: quotes.amountArgs(quote.amount),
      }
    : {
        amount: String(quote.forwardFee),
        args: [delivery.boundTo, delivery.destinationCaller],
        argsHash: quote.forwardArgs,
      }

/** The fields of a quote that all operations show. */
export const shownQuote = ({ fastFee, forwardFee, feeToken, nonce }: BurnQuote, signedQuote: Hex) => ({
  signedQuote,
  feeTotalAmount: String(fastFee + forwardFee),
  feeToken,
  nonce: String(nonce),
})
