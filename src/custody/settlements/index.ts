/** Policy over settlements of payments that others signed. */
export {
  decideSettlement,
  reserveSettlement,
  type SettlementDenial,
  type SettlementTerms,
  settleAllowance,
  settlementPoliciesOf,
} from './decide-settlement.ts'
