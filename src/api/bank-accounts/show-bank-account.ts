import type { BankAccount } from '#engines/treasury/banking/index'

export const showBankAccount = ({
  id,
  status,
  description,
  trackingRef,
  fingerprint,
  billingDetails,
  bankAddress,
  createDate,
  updateDate,
}: BankAccount) => ({
  id,
  status,
  description,
  trackingRef,
  fingerprint,
  billingDetails,
  bankAddress,
  createDate,
  updateDate,
})
