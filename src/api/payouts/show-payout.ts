import { showMoney } from '#api/business/money'
import { showPurpose } from '#api/business/purpose'
import { showRiskEvaluation } from '#api/business/risk-evaluation'
import { showWaitingFor } from '#api/business/waiting-for'
import type { Payout } from '#engines/treasury/disbursements/index'

/** A payout as the API shows it. Merchants pay no fees; clients expect zero fees once it is complete. */
export function showPayout(payout: Payout, { returnIdentities = false } = {}) {
  const { amount, currency, status, walletId } = payout
  const nothing = showMoney(0n, currency)
  return {
    id: payout.id,
    sourceWalletId: walletId,
    ...(returnIdentities && {
      source: { type: 'wallet', id: walletId, identities: payout.identities ?? [] },
    }),
    destination: { type: 'address_book', id: payout.recipientId },
    amount: showMoney(amount, currency),
    toAmount: showMoney(amount, currency),
    ...(status === 'complete' && { fees: nothing, networkFees: nothing }),
    ...showPurpose(payout),
    ...(payout.transactionHash && { externalRef: payout.transactionHash }),
    status,
    ...(payout.errorCode && { errorCode: payout.errorCode }),
    ...showRiskEvaluation(payout),
    ...showWaitingFor(payout),
    createDate: payout.createDate,
    updateDate: payout.updateDate,
  }
}
