/** Quotes the fees of burns, which pay them beforehand to the contract that checks the signature: nothing of a quote is kept here. */
import { randomBytes } from 'node:crypto'
import type { Address } from '#chains/addresses/types'
import type { BurnQuote, BurnQuotes } from '#chains/crosschain/fee-quotes'
import { emptyMessageBytes } from '#chains/crosschain/message'
import { wordOfAddress, zeroWord } from '#chains/crosschain/native-address'
import { stablecoinNamed, tokenAddress } from '#chains/network'
import { signQuote } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { nativeFee, openPayer, payerOf } from '#engines/treasury/index'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { fastAmountMax } from './execution.ts'
import { fastFee, forwardFee } from './fees.ts'
import type { MessageChain } from './networks.ts'
import { hasLostBurns } from './store/lost-burns.ts'
import { usedAllowance } from './store/messages.ts'

/** A quote counts so long: enough for an approval and a burn in blocks of their own. */
export const quotedSeconds = 300

/** The delivery that a burn asks for; `destinationCaller` is a word. The quote is bound to it and to `boundTo`, the hash of which it has. */
export type AskedDelivery = {
  destinationCaller: Hex
  hookData: Hex
  isExecuted: boolean
  boundTo: Hex
}

/** A coin that pays fees, and how many of its smallest units a fee is in base units of USDC. */
export type FeeCoin = { token: Address; amountOf(feeAtomic: bigint): bigint }

export type AskedQuote = {
  source: MessageChain
  destination: MessageChain
  /** The token that is burned. */
  token: Address
  feeCoin: FeeCoin
  amount: bigint
  isFast: boolean
  delivery: AskedDelivery | undefined
}

/** A quote that is not signed yet. */
export async function priceBurn(
  ctx: EngineCtx,
  quotes: BurnQuotes,
  payee: Address,
  { source, destination, token, feeCoin, amount, isFast, delivery }: AskedQuote,
): Promise<BurnQuote> {
  const destinationDomain = destination.domain
  const { genericExecutor } = destination.crosschain.addresses
  const forwarded = delivery && emptyMessageBytes + bytesOf(delivery.hookData).length
  return {
    amount,
    destinationDomain,
    burnToken: token,
    feeToken: feeCoin.token,
    feeRecipient: payee,
    isFast,
    fastFee: feeCoin.amountOf(isFast ? fastFee(source.chain, amount) : 0n),
    isForwarded: delivery !== undefined,
    forwardFee: feeCoin.amountOf(
      forwarded ? forwardFee(destinationDomain, forwarded, delivery.isExecuted) : 0n,
    ),
    forwardArgs: delivery ? quotes.forwardArgs(delivery.destinationCaller, delivery.boundTo) : zeroWord,
    executor: genericExecutor ? wordOfAddress(genericExecutor) : zeroWord,
    nonce: BigInt(hexOf(randomBytes(16))),
    expiresAt: BigInt(Math.floor(ctx.clock.nowMs() / 1_000) + quotedSeconds),
  }
}

/** USDC on a chain. */
export const burnTokenOf = ({ chain: { network } }: MessageChain): Address =>
  tokenAddress(stablecoinNamed(network, 'USDC')!)

/** USDC pays fees by their amount. */
export const usdcFees = (source: MessageChain): FeeCoin => ({
  token: burnTokenOf(source),
  amountOf: (feeAtomic) => feeAtomic,
})

const nativeCoin = `0x${'0'.repeat(40)}` as Address

/** Fees in the native coin of a chain; `undefined` where it has no price. */
export const nativeFees = (ctx: EngineCtx, { chain }: MessageChain): FeeCoin | undefined =>
  nativeFee(ctx, chain, 1n) === undefined
    ? undefined
    : { token: nativeCoin, amountOf: (feeAtomic) => nativeFee(ctx, chain, feeAtomic)! }

/** The bytes that the contract takes; `undefined` while no key signs quotes. */
export async function signedQuoteOf(
  ctx: EngineCtx,
  quotes: BurnQuotes,
  quote: BurnQuote,
): Promise<Hex | undefined> {
  const signature = await signQuote(ctx, quotes.digest(quote))
  return signature && quotes.encode(quote, hexOf(signature))
}

/** The treasury that deliveries are paid by, and fees to; `undefined` while no entity is set. */
export async function payeeOf(ctx: EngineCtx, { chain }: MessageChain): Promise<Address | undefined> {
  const { crosschainEntity } = ctx.config
  if (crosschainEntity === undefined) return undefined
  const known = await payerOf(ctx, crosschainEntity, chain)
  return (known ?? (await openPayer(ctx, crosschainEntity, chain)).address) as Address
}

/** Why a burn of this amount would not be attested before it is final now. */
export async function fastObstacle(
  { config, db }: EngineCtx,
  { blockchain }: MessageChain,
  amount: bigint,
): Promise<'amount' | 'allowance' | undefined> {
  if (amount > fastAmountMax(config)) return 'amount'
  const used = await usedAllowance(db, config.crosschainEnvironment)
  const isShort = used + amount > config.fastAllowanceAtomic
  return isShort || (await hasLostBurns(db, blockchain)) ? 'allowance' : undefined
}
