import { showMoney } from '#api/business/money'
import { showRiskEvaluation } from '#api/business/risk-evaluation'
import { showWaitingFor } from '#api/business/waiting-for'
import { networkOf } from '#chains/networks/index'
import type { Redemption } from '#engines/treasury/disbursements/index'

/** A payout to a bank account as the API shows it. Merchants pay no fees; clients expect zero fees once it is complete. */
export function showRedemption(redemption: Redemption) {
  const { id, walletId, amount, currency, status, errorCode, trackingRef, externalRef } = redemption
  const returned = showReturn(redemption)
  const chain = networkOf(redemption.blockchain)?.businessChain ?? redemption.blockchain
  return {
    id,
    sourceWalletId: walletId,
    destination: { type: 'wire', id: redemption.bankAccountId, name: redemption.bankAccountName },
    amount: showMoney(amount, currency),
    toAmount: showMoney(amount, currency),
    ...(status === 'complete' && { fees: showMoney(0n, currency) }),
    status,
    ...(trackingRef && { trackingRef }),
    ...(externalRef && { externalRef }),
    ...(errorCode && { errorCode }),
    ...showRiskEvaluation(redemption),
    ...(returned && { return: returned }),
    ...showWaitingFor({ ...redemption, chain }),
    createDate: redemption.createDate,
    updateDate: redemption.updateDate,
  }
}

/** The return of a payout; undefined where the bank returned nothing. */
export function showReturn(redemption: Redemption) {
  const { id: payoutId, amount, currency, returnId, returnReason } = redemption
  if (returnId === null || returnReason === null) return undefined
  return {
    id: returnId,
    payoutId,
    amount: showMoney(amount, currency),
    fees: showMoney(0n, currency),
    reason: returnReason,
    status: redemption.returnStatus!,
    createDate: redemption.returnCreateDate!,
    updateDate: redemption.returnUpdateDate!,
  }
}
