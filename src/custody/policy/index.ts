/** Policies: the rules by which an entity signs, and the amounts reserved against their limits. */

export {
  decisionsUnder,
  findListedPolicy,
  findPolicyInForce,
  type ListedDecision,
  type ListedPolicy,
  listedDecisionsPage,
  listedPoliciesPage,
  type PastDecision,
} from '../store/listed-policies.ts'
export {
  copySpending,
  decisionsAbout,
  hasKeyPolicy,
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
export {
  type CandidatePolicy,
  type PastVerdict,
  tryOperation,
  tryPast,
  tryTogether,
} from './dry-run.ts'
export { type Operation, type OperationDanger, type OperationEffect, operationKinds } from './operation.ts'
export { policyHistory } from './policy-changes.ts'
export { type Rules, readRules } from './rules.ts'
export { findSubject, type PolicySubject, permissive, setPolicy, startPermissive } from './set-policy.ts'
