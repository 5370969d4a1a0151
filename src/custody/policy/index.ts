/** Policies: the rules by which an entity signs, the amounts reserved against their limits, and freezes. */

export { isEntityFrozen } from '../store/freezes.ts'
export {
  type ListedDecision,
  type ListedPolicy,
  listedDecisionsPage,
  listedPoliciesPage,
} from '../store/listed-policies.ts'
export {
  copySpending,
  decisionsAbout,
  ownerOf,
  type PolicyDecision,
  type PolicyScope,
  policiesInForce,
  restoreSpending,
  type VersionRow,
} from '../store/policies.ts'
export {
  type Decision,
  decidePolicy,
  releaseAllowance,
  repeatDecision,
  reserveAllowanceAgain,
  type SignedIntent,
} from './decide-policy.ts'
export { freeze, isFrozen, unfreeze, WalletFrozen } from './freeze.ts'
export type { Operation, OperationDanger, OperationEffect } from './operation.ts'
export { policyHistory } from './policy-changes.ts'
export { parseRules, type Rules } from './rules.ts'
export { type PolicySubject, permissive, setPolicy, startPermissive } from './set-policy.ts'
