/** The money of merchants compared with the coins. */

export {
  type Adjustment,
  type AdjustmentPlan,
  bookAdjustments,
  GapChanged,
  planAdjustments,
} from './adjust.ts'
export { type MoneyProof, proveMoney, startMoneyWatch } from './money-proof.ts'
export { checkMerchants } from './store/check-merchants.ts'
