import { stablecoinIn, tokenAddress } from '#chains/network'
import { type Network, requireNetwork } from '#chains/networks/index'
import { browserCallOf, paymentUriOf } from '#chains/payment-uri'
import type { Ctx } from '#engines/ctx'
import { canonicalHeights } from '#engines/indexer/index'
import { depositAddressesOfIntent } from '#engines/treasury/deposit-addresses/index'
import { findPayments, type Payment, seenAmountOf } from '#engines/treasury/deposits/index'
import { findPaymentIntent, type PaymentIntent } from '#engines/treasury/payment-intents/index'
import { formatAmount, larger } from '#lib/amounts'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { PageQuery } from '#runtime/collection/query'
import { readPageToken } from './page-link.ts'
import { shareReads } from './share-reads.ts'
import { asksForPayment, stageOf } from './stage.ts'
import { findPaymentPage, type PaymentPageRow } from './store.ts'

type PageCtx = Pick<Ctx, 'database' | 'chains' | 'custody' | 'clock'>

/** The payments that the page shows. */
const newest = (toMs: number): PageQuery => ({
  fromMs: undefined,
  toMs,
  pageSize: 10,
  pageAfter: undefined,
  pageBefore: undefined,
  order: 'DESC',
})

/** The part of an intent that a customer sees, by the token of its link. A wrong token costs no query. */
export async function showPaymentPage(ctx: PageCtx, token: string) {
  const ids = readPageToken(ctx, token)
  if (!ids) throw new ApiError('paymentPageNotFound')
  return shareReads(ctx.custody, token, () => readPage(ctx, ids.entityId, ids.paymentIntentId))
}

async function readPage(ctx: PageCtx, entityId: string, id: string) {
  // Visitors take turns apart from the requests of the merchant.
  const db = ctx.database.readingFor(`${entityId} pages`)
  const nowMs = ctx.clock.nowMs()
  const [page, intent] = await Promise.all([
    findPaymentPage(db, entityId, id),
    findPaymentIntent(db, entityId, id),
  ])
  if (!page || !intent) throw new ApiError('paymentPageNotFound')
  const [addresses, { rows: payments }, seen] = await Promise.all([
    depositAddressesOfIntent(db, entityId, id),
    findPayments(db, entityId, { paymentIntentId: id }, newest(nowMs)),
    seenAmountOf(db, entityId, id),
  ])
  const heights = await canonicalHeights(db, [...new Set(payments.map(({ blockchain }) => blockchain))])
  const stage = stageOf(intent, seen, nowMs)
  const takesPayment = asksForPayment(intent, stage)
  const own = requireNetwork(intent.blockchain)
  const missing = intent.amount === null ? undefined : larger(0n, intent.amount - intent.amountPaid - seen)
  return {
    stage,
    takesPayment,
    ...textsOf(page),
    isTest: own.environment === 'TEST',
    token: tokenOn(own, intent).symbol,
    ...amountsOf(intent, seen, missing),
    ...(intent.expiresOn && { expiresOn: intent.expiresOn }),
    now: formatInstant(nowMs),
    paymentMethods: (takesPayment ? page.chains : []).flatMap((chain) =>
      addresses.filter((each) => each.chain === chain).map((each) => showMethod(ctx, intent, each, missing)),
    ),
    payments: payments.map((payment) => {
      const height = heights.find(({ blockchain }) => blockchain === payment.blockchain)?.number
      return showPayment(ctx, payment, height)
    }),
  }
}

const textsOf = ({ merchantName, description, returnUrl }: PaymentPageRow) => ({
  merchantName,
  ...(description && { description }),
  ...(returnUrl && { returnUrl }),
})

function amountsOf(intent: PaymentIntent, seen: bigint, missing: bigint | undefined) {
  const { amount, amountPaid, amountRefunded, decimals } = intent
  const shown = (atomic: bigint) => formatAmount(atomic, decimals, 2)
  return {
    ...(amount !== null && { amount: shown(amount) }),
    amountPaid: shown(amountPaid),
    amountSeen: shown(seen),
    ...(missing !== undefined && { amountMissing: shown(missing) }),
    ...(amount !== null && { amountExcess: shown(larger(0n, amountPaid + seen - amount)) }),
    amountRefunded: shown(amountRefunded),
  }
}

const tokenOn = (network: Network, { currency }: Pick<PaymentIntent, 'currency'>) =>
  stablecoinIn(network, currency)!

const confirmationsOn = ({ chains }: PageCtx, { blockchain, confirmations }: Network): number =>
  chains.find(blockchain)?.confirmations ?? confirmations

function showMethod(
  ctx: PageCtx,
  intent: PaymentIntent,
  { chain, blockchain, address }: { chain: string; blockchain: string; address: string },
  missing: bigint | undefined,
) {
  const network = requireNetwork(blockchain)
  const token = tokenOn(network, intent)
  const terms = { network, token, address }
  const paymentUri = paymentUriOf(network.blockchain, { ...terms, amountAtomic: missing })
  const browserCall = missing
    ? browserCallOf(network.blockchain, { ...terms, amountAtomic: missing })
    : undefined
  return {
    chain,
    name: network.name,
    address,
    tokenAddress: tokenAddress(token),
    ...(paymentUri && { paymentUri }),
    ...(browserCall && { browserCall }),
    confirmations: confirmationsOn(ctx, network),
  }
}

/** Head: the number of the newest block of its chain, where there is one. */
function showPayment(ctx: PageCtx, payment: Payment, head: number | undefined) {
  const { type, status, amount, decimals, chain, transactionHash, createDate } = payment
  const network = requireNetwork(payment.blockchain)
  const needed = confirmationsOn(ctx, network)
  return {
    type,
    status,
    amount: formatAmount(amount, decimals, 2),
    chain,
    name: network.name,
    confirmations: Math.min(needed, confirmationsOf(payment, head)),
    confirmationsNeeded: needed,
    ...(transactionHash && { transactionHash }),
    createDate,
  }
}

function confirmationsOf({ blockHash, blockNumber }: Payment, head: number | undefined): number {
  if (blockHash === null || blockNumber === null || head === undefined) return 0
  return Math.max(0, head - blockNumber + 1)
}
