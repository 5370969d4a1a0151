/**
 * Faults of a sandbox by a plan: of requests to the API, of calls to the nodes, and of webhooks. A rule says where it is met, what
 * it matches, which matches it meets and what it does; all chances are drawn from one seed.
 */
export { causesOf } from './causes.ts'
export { openChainFaults } from './chain/chain-faults.ts'
export { faultEndpoints } from './endpoints.ts'
export { type Faults, openFaults } from './faults.ts'
export { nodeFaults, platformPath } from './node/meet-calls.ts'
export { readPlan } from './read-plan.ts'
export { requestFaults } from './request-faults.ts'
export { openScreeningFaults } from './screening/screening-faults.ts'
export { webhookFaults } from './webhook-faults.ts'
