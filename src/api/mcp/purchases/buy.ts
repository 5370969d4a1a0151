/**
 * Paying a 402 once. A purchase has a key that the agent chooses. Its payment has a number that follows from the key, so that the chain
 * executes one payment of the key, whatever is asked again, by whichever process, and at whatever price. What was signed is sent again
 * while it is valid, and nothing is called unpaid that a seller may still settle.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAmount } from '#lib/amounts'
import { parseBase64 } from '#lib/base64'
import { fingerprintOf } from '#lib/json'
import { formatInstant, systemClock } from '#lib/time'
import type { Answered, OutboundCaller } from '#runtime/outbound/call'
import { TargetRefused } from '#runtime/outbound/target'
import { type Platform, ToolProblem } from '../tool.ts'
import { parsed, priceOf, readOffer, recordOf } from './read-offers.ts'
import { type PayingWallet, type PurchasePayment, signPayment, wasPaid } from './sign-payment.ts'

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
  return async (platform, purchase) => {
    const name = purchase.idempotencyKey
    const { maxAmount: _, ...terms } = purchase
    const fingerprint = fingerprintOf(terms).toString('hex')
    const before = known.get(name)
    // A call that signed nothing binds its key to nothing.
    const entry: Remembered = before?.payment || before?.underWay ? before : { fingerprint }
    if (entry.fingerprint !== fingerprint)
      throw new ToolProblem(
        'idempotencyKey is of another purchase: choose a new one for this, and keep the old one to repeat the other',
      )
    if (!known.has(name) && known.size >= rememberedMax) known.delete(known.keys().next().value!)
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
  const isValid = entry.payment && entry.payment.validUntilMs > systemClock.nowMs()
  if (!isValid) {
    const first = await reach(call, purchase)
    if (first.status !== 402) return { paid: 'no', ...shownAnswer(first) }
    entry.payment = await pay(platform, payer, first, purchase)
  }
  const payment = entry.payment!
  const bought = await deliver(platform, call, { purchase, payer, payment })
  if (bought.paid === 'yes' && bought['problem'] === undefined) entry.bought = bought
  return bought
}

async function payerOf(platform: Platform, walletId: string): Promise<PayingWallet> {
  const { data } = await platform<{ wallet: PayingWallet }>({
    method: 'GET',
    path: `/v1/w3s/wallets/${walletId}`,
  })
  const { id, blockchain, address } = data.wallet
  return { id, blockchain, address }
}

/** Signs what the seller asks for, if it is within the maximum and the key has paid nothing before. */
async function pay(
  platform: Platform,
  payer: PayingWallet,
  asked: Answered,
  { url, maxAmount, idempotencyKey: key }: Purchase,
): Promise<PurchasePayment> {
  const offer = readOffer(asked, payer.blockchain)
  const max = parseAmount(maxAmount, offer.token.decimals)
  if (typeof max !== 'bigint')
    throw new ToolProblem(
      `maxAmount must be a decimal text with up to ${offer.token.decimals} decimals, such as "0.10", not "${maxAmount}"`,
    )
  if (offer.amountAtomic > max)
    throw new ToolProblem(
      `nothing was paid: the seller asks ${priceOf(offer)}, more than maxAmount ${maxAmount}: ask the user before you repeat the call with a higher one`,
    )
  const before = await wasPaid(platform, payer, offer.tokenAddress, key)
  if (before)
    throw new ToolProblem(
      'nothing more was paid: this idempotencyKey has paid already, and the seller asks again: list_transactions shows the payment, and a new idempotencyKey makes another one',
    )
  if (before === undefined)
    throw new ToolProblem(
      'nothing was paid: the node does not tell whether this idempotencyKey has paid before: repeat the call with the same key in a moment',
    )
  return signPayment(platform, payer, offer, { key, memo: `x402 ${new URL(url).host}`.slice(0, 100) })
}

type PaidRequest = { purchase: Purchase; payer: PayingWallet; payment: PurchasePayment }

/** Sends the payment, again while the seller says that it settles it, and tells what became of it. */
async function deliver(platform: Platform, call: OutboundCaller, delivery: PaidRequest): Promise<Bought> {
  const { purchase, payer, payment } = delivery
  const { offer, validUntilMs } = payment
  const { answer, failure } = await send(call, purchase, payment)
  const receipt = answer && receiptIn(answer)
  const isSettled = receipt?.['success'] === true
  const used = isSettled || (await wasPaid(platform, payer, offer.tokenAddress, purchase.idempotencyKey))
  const terms = { price: priceOf(offer), payTo: offer.payTo, blockchain: payer.blockchain }
  const shown = { ...terms, ...(receipt && { receipt }), ...(answer && shownAnswer(answer)) }
  const isDelivered = answer !== undefined && answer.status >= 200 && answer.status < 300
  if (used) {
    if (isDelivered) return { paid: 'yes', ...shown }
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

/** Reaches the seller; redirects are not followed, so that a payment goes to the origin which asked for it. */
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
    if (error instanceof TargetRefused)
      throw new ToolProblem(`nothing was sent: the address ${error.message}`)
    throw payment ? error : new ToolProblem(`nothing was paid: ${url} does not answer: ${error.message}`)
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
