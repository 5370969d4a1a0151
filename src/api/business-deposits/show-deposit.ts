import { showMoney } from '#api/business/money'
import type { FiatDeposit } from '#engines/treasury/deposits/index'

export const showDeposit = (deposit: FiatDeposit) => ({
  id: deposit.id,
  ...(deposit.bankAccountId && { sourceWalletId: deposit.bankAccountId }),
  destination: { type: 'wallet', id: deposit.walletId },
  amount: showMoney(deposit.amount, deposit.currency),
  fee: showMoney(0n, deposit.currency),
  status: deposit.status,
  createDate: deposit.createDate,
  updateDate: deposit.updateDate,
})
