import type { Static } from 'typebox'
import { readAddress } from '#api/business/business-address'
import { requirePaymentDestination } from '#api/business/disbursement'
import { readAmount } from '#api/business/read-amount'
import type { Ctx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { currencyDecimals } from '#engines/ledger/index'
import { paymentProgressOf } from '#engines/treasury/deposits/index'
import { openRefund } from '#engines/treasury/disbursements/index'
import { lockPaymentIntents, type PaymentIntent } from '#engines/treasury/payment-intents/index'
import { ApiError, invalid, notFound } from '#lib/errors'
import { parseInstant } from '#lib/time'
import type { refundSchema } from './schema.ts'
import { showPayment } from './show-payment.ts'

type RefundBody = Static<typeof refundSchema>
type RefundInput = { params: { id: string }; body: RefundBody }

/** Time after its creation in which an intent can be refunded. */
const refundableMs = 30 * 24 * 3_600_000

/** Refunds an intent, in full or in part; from then on it accepts no more payments. */
export async function refundPaymentIntent(ctx: Ctx, { params, body }: RefundInput) {
  const [intent] = await lockPaymentIntents(ctx.db, [{ entityId: ctx.entity.id, id: params.id }])
  if (!intent) throw notFound('payment intent', params.id, 'paymentIntentNotFound')
  const { destination, toAmount } = body
  for (const [location, currency] of [
    ['amount.currency', body.amount.currency],
    ['toAmount.currency', toAmount.currency],
  ] as const)
    if (currency !== intent.currency)
      throw invalid({
        at: location,
        reason: `must be ${intent.currency}, the currency that was paid`,
        value: currency,
      })
  const amount = readAmount('toAmount.amount', toAmount.amount, currencyDecimals, 'paymentAmountNotPositive')
  await requireRefundable(ctx, intent)
  if (intent.amountRefunded + amount > intent.amountPaid) throw new ApiError('refundExceedsPayments')
  const { chain } = destination
  const address = readAddress(ctx, chain, destination.address, 'destination.address')
  const money = { amount, currency: intent.currency }
  const at = { chain: 'destination.chain', address: 'destination.address' }
  const to = await requirePaymentDestination(ctx, at, { chain, address }, money)
  try {
    return showPayment(await openRefund(ctx, intent, to))
  } catch (error) {
    if (error instanceof InsufficientFunds) throw new ApiError('payoutFundsInsufficient')
    throw error
  }
}

async function requireRefundable(ctx: Ctx, { entityId, id, createDate }: PaymentIntent): Promise<void> {
  const { open, settled } = await paymentProgressOf(ctx.db, entityId, id)
  const refuse = (why: string) =>
    new ApiError('paymentIntentNotRefundable', `The payment intent cannot be refunded: ${why}.`)
  if (!settled) throw refuse('it has no settled payment')
  if (open) throw refuse('a payment to it is pending: wait until its status is paid')
  if (ctx.clock.nowMs() - parseInstant(createDate)! > refundableMs)
    throw refuse('it was created more than 30 days ago: send the money by a payout')
}
