import { showMoney } from '#api/business/money'
import { showRiskEvaluation } from '#api/business/risk-evaluation'
import { showWaitingFor } from '#api/business/waiting-for'
import type { Payment } from '#engines/treasury/deposits/index'
import { formatAmount } from '#lib/amounts'

export function showPayment(payment: Payment) {
  const { chain, currency } = payment
  const amount = { amount: formatAmount(payment.amount, payment.decimals, 2), currency }
  const nothing = showMoney(0n, currency)
  return {
    id: payment.id,
    type: payment.type,
    status: payment.status,
    amount,
    merchantId: payment.entityId,
    merchantWalletId: payment.merchantWalletId,
    ...(payment.paymentIntentId && { paymentIntentId: payment.paymentIntentId }),
    // No fee is deducted, so the received amount is credited.
    ...(payment.status !== 'failed' && { settlementAmount: amount, fees: nothing, networkFees: nothing }),
    ...(payment.fromAddress && { fromAddresses: { chain, addresses: [payment.fromAddress] } }),
    depositAddress: { chain, address: payment.depositAddress },
    ...(payment.transactionHash && { transactionHash: payment.transactionHash }),
    ...showRiskEvaluation(payment),
    ...showWaitingFor(payment),
    createDate: payment.createDate,
    updateDate: payment.updateDate,
  }
}
