import { showPurpose } from '#api/business/purpose'
import type { PaymentIntent } from '#engines/treasury/payment-intents/index'
import { formatAmount } from '#lib/amounts'

/** A payment intent as the API shows it; `ids` only where a single transient one is shown. */
export function showPaymentIntent(
  intent: PaymentIntent,
  ids?: { paymentIds: string[]; refundIds: string[] },
) {
  const { currency, decimals } = intent
  const money = (atomic: bigint) => ({ amount: formatAmount(atomic, decimals, 2), currency })
  const isTransient = intent.type === 'transient'
  return {
    id: intent.id,
    ...(isTransient ? { amount: money(intent.amount ?? 0n) } : { type: intent.type, currency }),
    amountPaid: money(intent.amountPaid),
    amountRefunded: money(intent.amountRefunded),
    settlementCurrency: intent.settlementCurrency,
    paymentMethods: [
      {
        type: 'blockchain',
        chain: intent.chain,
        ...(intent.depositAddress && { address: intent.depositAddress }),
      },
    ],
    ...(intent.depositAddress && { fees: feesOf(intent) }),
    ...(isTransient && ids),
    // Member by member, because the database reorders the members of JSON.
    timeline: intent.timeline.map(({ status, time, context, reason }) => ({
      status,
      time,
      ...(context && { context }),
      ...(reason && { reason }),
    })),
    ...(intent.expiresOn && { expiresOn: intent.expiresOn }),
    merchantWalletId: intent.merchantWalletId,
    ...showPurpose(intent),
    createDate: intent.createDate,
    updateDate: intent.updateDate,
  }
}

/** Zero fees: addresses and payments are free here, but clients expect the fields. */
const feesOf = ({ currency, amountPaid }: PaymentIntent) =>
  ['blockchainLeaseFee', ...(amountPaid > 0n ? ['totalPaymentFees'] : [])].map((type) => ({
    type,
    amount: '0.00',
    currency,
  }))
