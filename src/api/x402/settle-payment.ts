import { randomUUID } from 'node:crypto'
import type { Blockchain } from '#chains/blockchains'
import { networkIdOf } from '#chains/chain-ids'
import { authorizationsOn } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import {
  findSignedPayment,
  isFinal,
  refusalNow,
  type SettledPayment,
  type Settlement,
  settlePayment,
  shownSettlement,
} from '#engines/facilitator/index'
import { openPayer } from '#engines/treasury/index'
import { notFound } from '#lib/errors'
import { namesOf, settlingChains } from './networks.ts'
import { identifierExtension } from './read-payment.ts'
import { approvalExtension, readOffered, refusedMaximum } from './read-permit.ts'
import type { PaymentBody, SettlementBody } from './schema.ts'
import { failedSettlement, invalidVerdict } from './verdicts.ts'

export async function verifyX402(ctx: Ctx, body: PaymentBody) {
  const offered = readOffered(ctx, body)
  if ('reason' in offered) return invalidVerdict(offered)
  const payer = offered.signed.from
  const refusal = refusedMaximum(offered) ?? (await refusalNow(ctx, offered))
  return refusal ? { ...invalidVerdict(refusal), payer } : { isValid: true, payer }
}

export async function settleX402(ctx: Ctx, body: SettlementBody) {
  const { network } = body.paymentRequirements
  const offered = readOffered(ctx, body)
  if ('reason' in offered) return { ...failedSettlement(offered), network }
  const { from: payer, amountAtomic, permit } = offered.signed
  const deliveryId = body.deliveryId ?? randomUUID()
  const settled = shown(await settlePayment(ctx, offered, deliveryId))
  const chosen = settled.success && permit?.scheme === 'upto'
  return { ...settled, network, payer, ...(chosen && { amount: amountAtomic.toString() }) }
}

const pending =
  'The payment is recorded, and may be settled yet: ask again with the same payment, and do not ask its payer for another one.'

type ShownPayment = {
  success: boolean
  errorReason?: string
  errorMessage?: string
  transaction: string
  paymentId?: string
  extra?: { paymentId: string }
}

function shown(settlement: Settlement): ShownPayment {
  const { id } = settlement
  // Clients of x402 pass on what is in `extra`, and leave out what they do not know.
  const named = id === undefined ? {} : { paymentId: id, extra: { paymentId: id } }
  if (settlement.state === 'settled') return { success: true, transaction: settlement.txHash, ...named }
  if (settlement.state === 'refused') {
    const { refusal, txHash: transaction = '' } = settlement
    return { ...failedSettlement(refusal), transaction, ...named }
  }
  const { txHash: transaction = '' } = settlement
  return { success: false, errorReason: 'settlement_pending', errorMessage: pending, transaction, ...named }
}

/** The kinds of payment that this server settles with this key. */
export async function supportedX402(ctx: Ctx) {
  const chains = settlingChains(ctx)
  // All networks of a family share the key of a treasury. Payers sign for it, before anything was settled too.
  const own = await Promise.all(chains.slice(0, 1).map((chain) => openPayer(ctx, ctx.entity.id, chain)))
  const signers = own.map(({ address }) => address)
  const upto = chains
    .filter((chain) => authorizationsOn(chain).permits)
    .flatMap(namesOf)
    .filter(({ x402Version }) => x402Version === 2)
    .map((named) => ({ ...named, scheme: 'upto', extra: { facilitatorAddress: signers[0]! } }))
  return {
    kinds: [...chains.flatMap(namesOf).map((named) => ({ ...named, scheme: 'exact' })), ...upto],
    extensions: [identifierExtension, approvalExtension],
    signers: signers.length === 0 ? {} : { 'eip155:*': signers },
  }
}

/** Throws `signedPaymentNotFound`. */
export async function readX402Status(ctx: Ctx, paymentId: string) {
  const payment = await findSignedPayment(ctx.db, ctx.entity.id, paymentId)
  if (!payment) throw notFound('payment', paymentId, 'signedPaymentNotFound', 'paymentId')
  return showX402Payment(payment)
}

/** A payment as its status and its webhooks show it. */
export function showX402Payment(payment: SettledPayment) {
  const { id: paymentId, blockchain, payer, payee: payTo, tokenAddress: asset, amount, createDate } = payment
  const { success, errorReason, errorMessage, transaction } = shown(shownSettlement(payment))
  const isPending = errorReason === 'settlement_pending'
  return {
    paymentId,
    status: success ? 'completed' : isPending ? 'pending' : 'failed',
    ...(success && { final: isFinal(payment) }),
    ...(errorReason !== undefined && !isPending && { errorReason, errorMessage }),
    payer,
    payTo,
    asset,
    amount: amount.toString(),
    network: networkIdOf(blockchain as Blockchain),
    transaction,
    createDate,
  }
}
