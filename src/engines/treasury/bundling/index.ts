/** Bundles of operations, and the contracts that they need. */

export { requireSponsor } from '../sponsor.ts'
export {
  type DeploymentPlan,
  deployContracts,
  deploymentProgress,
  openPayer,
  payerOf,
  planDeployment,
  shortOf,
} from './deploy-contracts.ts'
export {
  callUsdcPaymaster,
  type OwnUsdcPaymaster,
  openOwnUsdcPaymaster,
  usdcPaymasterState,
} from './usdc-paymaster.ts'
