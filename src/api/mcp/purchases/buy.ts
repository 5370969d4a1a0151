/**
 * Paying a 402 once. A purchase has a key that the agent chooses. Its payment has a number that follows from the key, so that the chain
 * executes one payment of the key, whatever is asked again, by whichever process, and at whatever price. What was signed is sent again
 * while it is valid, and the chain is asked before anything is called unpaid.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAmount } from '#lib/amounts'
import { parseBase64 } from '#lib/base64'
import { fingerprintOf } from '#lib/json'
import { formatInstant, systemClock } from '#lib/time'
import type { Answered, OutboundCaller } from '#runtime/outbound/call'
import { TargetRefused } from '#runtime/outbound/target'
import { type Platform, ToolProblem } from '../tool.ts'
import { type Offer, paidTokenOf, parsed, priceOf, readOffer, recordOf } from './read-offers.ts'
import {
  type PayingWallet,
  type PurchasePayment,
  signPayment,
  validMaxSeconds,
  wasPaid,
} from './sign-payment.ts'

type Purchase = {
  url: string
  method: 'GET' | 'POST'
  body?: string | undefined
  contentType: string
  walletId: string
  maxAmount: string
  idempotencyKey: string
}

type Paid = 'yes' | 'no' | 'pending'
type Bought = { paid: Paid } & Record<string, unknown>

type Remembered = {
  fingerprint: string
  /** Until when a payment of the key may be valid that this process does not know. */
  unknownUntilMs: number
  payment?: PurchasePayment
  /** The answer that was paid for, once it is there. */
  bought?: Bought
  underWay?: Promise<Bought>
}

const rememberedMax = 500
const unpaidMs = 20_000
const paidMs = 30_000
const bytesMax = 65_536
/** Requirements and receipts are headers. */
const headerLengthMax = 16_384
const settlingTries = 3
const settlingPauseMs = 1_000

/** Buys once for each key. */
export type Buyer = (platform: Platform, purchase: Purchase) => Promise<Bought>

/** Makes a buyer, with a memory of its purchases. `call` is how sellers are reached. */
export function openBuyer(call: OutboundCaller): Buyer {
  const known = new Map<string, Remembered>()
  let wholeSinceMs = systemClock.nowMs()
  return async (platform, purchase) => {
    const name = purchase.idempotencyKey
    const { maxAmount: _, ...terms } = purchase
    const fingerprint = fingerprintOf(terms).toString('hex')
    const before = known.get(name)
    // A call that signed nothing binds its key to nothing.
    const unknownUntilMs = wholeSinceMs + validMaxSeconds * 1_000
    const entry: Remembered = before?.payment || before?.underWay ? before : { fingerprint, unknownUntilMs }
    if (entry.fingerprint !== fingerprint)
      throw new ToolProblem(
        'idempotencyKey is of another purchase: choose a new one for this, and keep the old one to repeat the other',
      )
    if (!known.has(name) && known.size >= rememberedMax) {
      const [oldest, { payment }] = known.entries().next().value!
      known.delete(oldest)
      if (payment) wholeSinceMs = systemClock.nowMs()
    }
    known.set(name, entry)
    if (entry.bought) return entry.bought
    entry.underWay ??= buy(platform, call, purchase, entry).finally(() => {
      delete entry.underWay
    })
    return entry.underWay
  }
}

async function buy(
  platform: Platform,
  call: OutboundCaller,
  purchase: Purchase,
  entry: Remembered,
): Promise<Bought> {
  const payer = await payerOf(platform, purchase.walletId)
  const maxAtomic = maxOf(payer, purchase)
  const isValid = entry.payment && entry.payment.validUntilMs > systemClock.nowMs()
  if (!isValid) {
    const asked = await ask(call, purchase, payer, maxAtomic)
    const key = purchase.idempotencyKey
    const before = await wasPaid(platform, payer, key)
    if (before !== false || !asked.offer) return withoutPayment(before, asked, entry)
    const memo = `x402 ${new URL(purchase.url).host}`.slice(0, 100)
    const signed = signPayment(platform, payer, asked.offer, { key, memo })
    entry.payment = await signed.catch((error) => {
      throw error instanceof ToolProblem ? new ToolProblem(error.message + cautionOf(entry)) : error
    })
  }
  const payment = entry.payment!
  const bought = await deliver(platform, call, { purchase, payer, payment })
  if (bought.paid === 'yes' && bought['problem'] === undefined) entry.bought = bought
  return bought
}

async function payerOf(platform: Platform, walletId: string): Promise<PayingWallet> {
  const { data } = await platform<{ wallet: Omit<PayingWallet, 'token'> }>({
    method: 'GET',
    path: `/v1/w3s/wallets/${walletId}`,
  })
  const { id, blockchain, address } = data.wallet
  const token = paidTokenOf(blockchain)
  if (token) return { id, blockchain, address, token }
  throw new ToolProblem(
    `a wallet on ${blockchain} cannot pay by x402: take one on a chain with signed payments. If ${blockchain} is a network of the operator, start bezant mcp with the BEZANT_OWN_NETWORKS_FILE of the server`,
  )
}

function maxOf({ token }: PayingWallet, { maxAmount }: Purchase): bigint {
  const max = parseAmount(maxAmount, token.decimals)
  if (typeof max === 'bigint') return max
  throw new ToolProblem(
    `maxAmount must be a decimal text with up to ${token.decimals} decimals, such as "0.10", not "${maxAmount}"`,
  )
}

/** How a seller answers a request without a payment: with an offer within the maximum, or the reason why there is none. */
type Unpaid = { answer?: Answered; offer?: Offer; refusal?: string }

async function ask(
  call: OutboundCaller,
  purchase: Purchase,
  payer: PayingWallet,
  maxAtomic: bigint,
): Promise<Unpaid> {
  const asked: Unpaid = {}
  try {
    asked.answer = await reach(call, purchase)
    if (asked.answer.status !== 402) return asked
    const offer = readOffer(asked.answer, payer.blockchain)
    if (offer.amountAtomic <= maxAtomic) return { ...asked, offer }
    const refusal = `the seller asks ${priceOf(offer)}, more than maxAmount ${purchase.maxAmount}`
    return { ...asked, refusal }
  } catch (error) {
    if (error instanceof ToolProblem) return { ...asked, refusal: error.message }
    throw error
  }
}

/** Tells what is known of a purchase where this call sends no payment: an earlier one under its key may have. */
function withoutPayment(before: boolean | undefined, { answer, refusal }: Unpaid, entry: Remembered): Bought {
  const shown = answer && shownAnswer(answer)
  const why = refusal ?? `the seller answers ${answer!.status}`
  if (before && isDelivery(answer)) return { paid: 'yes', ...shown }
  if (before)
    return {
      paid: 'yes',
      ...shown,
      problem: `An earlier call with this idempotencyKey has paid already, and this one gets nothing: ${why}. Choose a new key only to buy a second time.`,
    }
  if (before === undefined)
    return {
      paid: 'pending',
      ...shown,
      problem: `This call paid nothing (${why}), and the node does not tell whether an earlier one with this idempotencyKey has paid. Repeat the call with the same key in a moment: it pays once. Another key could pay twice.`,
    }
  const caution = cautionOf(entry)
  if (refusal !== undefined) throw new ToolProblem(`nothing was paid: ${refusal}${caution}`)
  return { paid: 'no', ...shown, ...(caution !== '' && { caution: `This call paid nothing${caution}` }) }
}

/** Qualifies a text that calls a purchase unpaid, while a payment may be valid that this process does not know. */
const cautionOf = ({ unknownUntilMs }: Remembered): string =>
  unknownUntilMs <= systemClock.nowMs()
    ? ''
    : ` (an earlier call with this idempotencyKey, if there was one, may still be settled until ${formatInstant(unknownUntilMs)}: repeat with the same key, which pays once)`

const isDelivery = (answer: Answered | undefined): boolean =>
  answer !== undefined && answer.status >= 200 && answer.status < 300

type PaidRequest = { purchase: Purchase; payer: PayingWallet; payment: PurchasePayment }

/** Sends the payment, again while the seller says that it settles it, and tells what became of it. */
async function deliver(platform: Platform, call: OutboundCaller, delivery: PaidRequest): Promise<Bought> {
  const { purchase, payer, payment } = delivery
  const { offer, validUntilMs } = payment
  const { answer, failure } = await send(call, purchase, payment)
  const receipt = answer && receiptIn(answer)
  const isSettled = receipt?.['success'] === true
  const used = isSettled || (await wasPaid(platform, payer, purchase.idempotencyKey))
  const terms = { price: priceOf(offer), payTo: offer.payTo, blockchain: payer.blockchain }
  const shown = { ...terms, ...(receipt && { receipt }), ...(answer && shownAnswer(answer)) }
  if (used) {
    if (isDelivery(answer)) return { paid: 'yes', ...shown }
    const why = failure ?? `the seller answers ${answer!.status}`
    return {
      paid: 'yes',
      ...shown,
      problem: `The payment is made, and nothing was delivered: ${why}. Do not pay again with another key.`,
    }
  }
  return {
    paid: 'pending',
    ...shown,
    ...(failure !== undefined && { failure }),
    problem: `The payment is signed, and the chain is not known to have it. The seller can settle it until ${formatInstant(validUntilMs)}. Repeat the call with the same idempotencyKey to ask again: it pays once. Another key could pay twice.`,
  }
}

async function send(
  call: OutboundCaller,
  purchase: Purchase,
  payment: PurchasePayment,
): Promise<{ answer?: Answered; failure?: string }> {
  for (let tried = 1; ; tried++) {
    try {
      const answer = await reach(call, purchase, payment.header)
      const isSettling = receiptIn(answer)?.['errorReason'] === 'settlement_pending'
      if (!isSettling || tried === settlingTries) return { answer }
    } catch (error) {
      return { failure: (error as Error).message }
    }
    await sleep(settlingPauseMs)
  }
}

/** Reaches the seller, or throws a ToolProblem; redirects are not followed, so that a payment goes to the origin which asked for it. */
async function reach(
  call: OutboundCaller,
  { url, method, body, contentType }: Purchase,
  payment?: PurchasePayment['header'],
): Promise<Answered> {
  const headers = {
    ...(body !== undefined && { 'content-type': contentType }),
    ...(payment && { [payment[0]]: payment[1] }),
  }
  const asked = { method, url, headers, ...(body !== undefined && { body }) }
  const limits = { timeoutMs: payment ? paidMs : unpaidMs, keptBytes: bytesMax, headerLengthMax }
  return call({ ...asked, ...limits }).catch((error: Error) => {
    const isRefused = error instanceof TargetRefused
    throw new ToolProblem(
      isRefused ? `the address ${error.message}` : `${url} does not answer: ${error.message}`,
    )
  })
}

function receiptIn({ headers }: Answered): Record<string, unknown> | undefined {
  const header = headers['payment-response'] ?? headers['x-payment-response']
  const text = header === undefined ? undefined : parseBase64(header)?.toString('utf8')
  return text === undefined ? undefined : recordOf(parsed(text))
}

const shownAnswer = ({ status, headers, text, isWhole }: Answered) => ({
  status,
  ...(headers['content-type'] !== undefined && { contentType: headers['content-type'] }),
  ...(headers['location'] !== undefined && { redirectsTo: headers['location'] }),
  content: text,
  ...(!isWhole && { note: `Only the first ${bytesMax} bytes are shown.` }),
})
