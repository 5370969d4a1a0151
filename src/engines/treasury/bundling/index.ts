/** Bundles of operations, and the contracts that they need. */

export {
  type DeploymentPlan,
  deployContracts,
  deploymentProgress,
  openPayer,
  payerOf,
  planDeployment,
  shortOf,
} from './deploy-contracts.ts'
export { requireSponsor } from './sponsor.ts'
