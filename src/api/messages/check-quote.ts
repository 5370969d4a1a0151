import type { BurnQuote, BurnQuotes } from '#chains/crosschain/fee-quotes'
import { asksToForward } from '#chains/crosschain/forward-hook'
import { attestationKeysInUse } from '#custody/installation/index'
import { type MessageChain, messageChains } from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { type Hex, isHex } from '#lib/hex'
import { messageChainIn } from './list-messages.ts'
import { quotesOf } from './quote-burn.ts'
import { shownQuote } from './sign-quote.ts'

type QuoteCheck = { abiSignature: string; args: (string | string[])[] }

/** The arguments of a burn that bind its quote. */
type BurnArguments = {
  amount: bigint
  destinationDomain: bigint
  mintRecipient: Hex
  burnToken: string
  destinationCaller: Hex
  hookData: Hex
  signedQuote: Hex
  hasHook: boolean
}

/** Says whether a burn with these arguments can pay by its quote now. */
export async function checkQuote(ctx: Ctx, { source: text }: { source: string }, check: QuoteCheck) {
  const source = messageChainIn(ctx, text, 'source')
  const quotes = quotesOf(source)
  const given = argumentsOf(check)
  const decoded = quotes.decode(given.signedQuote)
  if (!decoded)
    throw invalid({
      at: `args[${check.args.length - 1}][0]`,
      reason: 'must be the signedQuote that POST /v2/quote/burn/usdc/{source}/{destination} answered',
    })
  const { quote, signature } = decoded
  const secondsRemaining = Number(quote.expiresAt) - Math.floor(ctx.clock.nowMs() / 1_000)
  const signer = await signerCheck(ctx, source, quote, signature)
  const forwardHash = quotes.forwardArgs(given.destinationCaller, given.hookData)
  const failedChecks = [
    ...(secondsRemaining < 0 ? ['QUOTE_EXPIRED'] : []),
    ...signer,
    // One that this server did not sign costs no node a request.
    ...(signer.length === 0 && (await quotes.isUsed(quote.nonce)) ? ['NON_ZERO_NONCE'] : []),
    ...(given.hasHook && given.hookData === '0x' ? ['EMPTY_HOOK_DATA'] : []),
    ...hookChecks(quote, given),
    ...(isBound(quote, given, forwardHash) && isFitForExecutor(quotes, quote, given)
      ? []
      : ['QUOTE_ARGS_MISMATCH']),
  ]
  return {
    ...shownQuote(quote, given.signedQuote),
    claimable: failedChecks.length === 0,
    failedChecks,
    expiry: {
      mode: 'TIMESTAMP',
      expired: secondsRemaining < 0,
      secondsRemaining: Math.max(secondsRemaining, 0),
      expiresAt: Number(quote.expiresAt),
    },
    items: itemsOf(quotes, quote, given, forwardHash),
  }
}

function itemsOf(quotes: BurnQuotes, quote: BurnQuote, given: BurnArguments, forwardHash: Hex) {
  const forward = {
    type: 'FORWARD',
    amount: String(quote.forwardFee),
    args: [given.hookData, given.destinationCaller],
    argsHash: quote.forwardArgs,
    computedArgsHash: forwardHash,
  }
  const fast = {
    type: 'PRE_FINALITY',
    amount: String(quote.fastFee),
    args: [String(given.amount)],
    argsHash: quotes.amountArgs(quote.amount),
    computedArgsHash: quotes.amountArgs(given.amount),
  }
  return [...(quote.isForwarded ? [forward] : []), ...(quote.isFast ? [fast] : [])].map((item) => ({
    ...item,
    argsMatch: item.argsHash === item.computedArgsHash,
  }))
}

/** Whether a key in use signed the quote for this chain, or for another one. */
async function signerCheck(
  ctx: Ctx,
  source: MessageChain,
  quote: BurnQuote,
  signature: Hex,
): Promise<string[]> {
  const keys = new Set((await attestationKeysInUse(ctx.db, 'quote')).map(({ address }) => address))
  const isSigned = async ({ crosschain }: MessageChain) => {
    const signer =
      crosschain.feeQuotes && (await crosschain.signerOf(crosschain.feeQuotes.digest(quote), signature))
    return signer !== undefined && keys.has(signer)
  }
  if (await isSigned(source)) return []
  for (const other of messageChains(ctx)) if (await isSigned(other)) return ['SOURCE_DOMAIN_MISMATCH']
  return ['SIGNATURE_INVALID']
}

function hookChecks({ isForwarded }: BurnQuote, { hookData }: BurnArguments): string[] {
  const asks = asksToForward(hookData)
  if (isForwarded && !asks) return ['FORWARD_FEE_WITHOUT_HOOK']
  return !isForwarded && asks ? ['FORWARD_HOOK_WITHOUT_FEE'] : []
}

const isBound = (quote: BurnQuote, given: BurnArguments, forwardHash: Hex): boolean =>
  quote.amount === given.amount &&
  BigInt(quote.destinationDomain) === given.destinationDomain &&
  quote.burnToken === given.burnToken &&
  (!quote.isForwarded || quote.forwardArgs === forwardHash)

/** Whether the executor of the destination can use a burn that names it: it has to deliver it, be minted its coins and read its hook. */
const isFitForExecutor = (
  quotes: BurnQuotes,
  { executor }: BurnQuote,
  { mintRecipient, destinationCaller, hookData }: BurnArguments,
): boolean =>
  BigInt(executor) === 0n ||
  (destinationCaller !== executor && mintRecipient !== executor) ||
  (destinationCaller === mintRecipient && quotes.isExecutable(hookData))

const isNumber = (text: string, bits: bigint) => /^[0-9]{1,78}$/.test(text) && BigInt(text) >> bits === 0n

const forms = {
  number: {
    is: (text: string) => isNumber(text, 256n),
    name: 'a whole number below 2^256 in decimal digits',
  },
  domain: { is: (text: string) => isNumber(text, 32n), name: 'a whole number below 2^32 in decimal digits' },
  word: { is: (text: string) => isHex(text, 32), name: '32 bytes in hexadecimal digits' },
  address: { is: (text: string) => isHex(text, 20), name: 'an address' },
  bytes: { is: (text: string) => isHex(text), name: 'bytes in hexadecimal digits' },
}

function argumentsOf({ abiSignature, args }: QuoteCheck): BurnArguments {
  const hasHook = abiSignature.startsWith('depositForBurnWithHookAndFees')
  const count = hasHook ? 7 : 6
  if (args.length !== count)
    throw invalid({
      at: 'args',
      reason: `must have ${count} elements, one for each argument of the function`,
    })
  const read = (place: number, form: keyof typeof forms): string =>
    textAt(`args[${place}]`, args[place], form)
  const claim = args[count - 1]
  if (!Array.isArray(claim) || claim.length !== 2)
    throw invalid({
      at: `args[${count - 1}]`,
      reason: 'must be the signed quote and the address for refunds',
    })
  textAt(`args[${count - 1}][1]`, claim[1], 'address')
  return {
    amount: BigInt(read(0, 'number')),
    destinationDomain: BigInt(read(1, 'domain')),
    mintRecipient: read(2, 'word') as Hex,
    burnToken: read(3, 'address'),
    destinationCaller: read(4, 'word') as Hex,
    hookData: (hasHook ? read(5, 'bytes') : '0x') as Hex,
    signedQuote: textAt(`args[${count - 1}][0]`, claim[0], 'bytes') as Hex,
    hasHook,
  }
}

/** The text of one argument, in lower case. */
function textAt(at: string, value: unknown, form: keyof typeof forms): string {
  const { is, name } = forms[form]
  if (typeof value !== 'string' || !is(value)) throw invalid({ at, reason: `must be ${name}`, value })
  return value.toLowerCase()
}
