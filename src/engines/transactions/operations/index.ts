/** Operations of smart accounts: sponsors, their limits, and the contracts that accounts need. */

export {
  depositsInFlight,
  endOperations,
  insertExternalOperation,
  isPayingFor,
  lockWaiting,
  markBundled,
  releaseBundles,
  reviveOperations,
  signAgain,
  takeEndedExternal,
  type WaitingOperation,
  waitingOperations,
} from '../store/operations.ts'
export {
  findSponsor,
  findUsdcPaymaster,
  forgetRetired,
  insertSponsor,
  type RetiredPaymaster,
  retiredPaymasters,
  type Sponsor,
  setPaymaster,
  setUsdcPaymaster,
  sponsorsOn,
  type UsdcSponsor,
  unregisteredSponsors,
  usdcSponsorsOn,
  usedFeePayers,
} from '../store/sponsors.ts'
export { countWholly, insertSponsorships, lockSponsorships } from '../store/sponsorships.ts'
export { lockUpgrades, upgradeUnderWay } from '../store/upgrades.ts'
export { accountContracts, accountTrouble, inspectAccounts } from './account-contracts.ts'
export { countFailedBundles } from './count-failed-bundles.ts'
export { denyListedOperations } from './deny-listed.ts'
export { excessOf, gasLimitsOf, operationGasMax } from './limit-gas.ts'
export { sponsoredPriceMax } from './limit-price.ts'
