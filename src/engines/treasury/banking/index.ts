/** Bank accounts of entities, the redemption of coins at a bank, and the results that a bank reports. */

export { openHttpRail } from './http-rail.ts'
export { linkAccount } from './link-account.ts'
export { redeem } from './redeem.ts'
export { type BankResult, bankErrorCodes, reportResult } from './report-result.ts'
export { startBanking } from './send-orders.ts'
export { bankSignatureHeader, isBankSignature } from './signature.ts'
export {
  type BankAccount,
  bankAccountDecision,
  findAccountByReference,
  findBankAccount,
  listBankAccounts,
  lockBankAccount,
  lockDueAccount,
} from './store/accounts.ts'
export {
  lockDueRedemption,
  lockUndecided,
  type OrderedRedemption,
  redemptionDecision,
  setBankDue,
} from './store/orders.ts'
