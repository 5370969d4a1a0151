/** Moves of coins to the treasury that lacks them. */

export { mintCoins } from './mint-coins.ts'
export { allowInSandbox as allowRebalancingInSandbox, setRebalancing } from './policy.ts'
export {
  findPolicy as findRebalancingPolicy,
  type Rebalancing,
  type RebalancingPolicy,
  rebalancingStatuses,
  rebalancingsPage,
} from './store.ts'
