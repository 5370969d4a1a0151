import { showMoney } from '#api/business/money'
import { showRiskEvaluation } from '#api/business/risk-evaluation'
import { showWaitingFor } from '#api/business/waiting-for'
import type { Transfer } from '#engines/treasury/deposits/index'

type ShowTransfer = {
  /** Whether `running` is shown; some clients know pending, complete and failed only. */
  running: boolean
  returnIdentities?: boolean | undefined
}

/** A transfer as the API shows it. */
export function showBusinessTransfer(transfer: Transfer, { running, returnIdentities }: ShowTransfer) {
  const { walletId: id, chain, fromAddress, toAddress: address, status } = transfer
  const wallet = { type: 'wallet', id }
  const sides =
    transfer.direction === 'out'
      ? {
          source: { ...wallet, ...(returnIdentities && { identities: [] }) },
          destination: { type: 'blockchain', address, chain },
        }
      : {
          source: { type: 'blockchain', chain, address: fromAddress },
          destination: { ...wallet, address },
        }
  return {
    id: transfer.id,
    ...sides,
    amount: showMoney(transfer.amount, transfer.currency),
    ...(transfer.transactionHash && { transactionHash: transfer.transactionHash }),
    status: status === 'running' && !running ? 'pending' : status,
    ...(transfer.errorCode && { errorCode: transferError(transfer.errorCode) }),
    ...showRiskEvaluation(transfer),
    ...showWaitingFor(transfer),
    createDate: transfer.createDate,
    updateDate: transfer.updateDate,
  }
}

/** Maps the error code of a denial: payouts and transfers name it differently. */
const transferError = (code: string) => (code === 'transaction_denied' ? 'transfer_denied' : code)
