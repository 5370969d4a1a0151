/**
 * Credits merchants with deposits and pays payouts, transfers, refunds and redemptions. Its folders import one way: address-book,
 * deposit-addresses, payment-intents, deposits, sweeping, rebalancing, bundling, disbursements, payout-batches, banking,
 * reconciliation. Files beside this one are shared by all folders, except `decide-review.ts`, `follow.ts`, `journaled-resources.ts`,
 * `merchant-balances.ts`, `reviewed-values.ts` and `treasury-states.ts`, which join them like this one.
 *
 * Sweep: the collection of the tokens of a deposit address by the treasury. Rebalancing: the move of coins, by a cross-chain
 * message, to the treasury on a chain where disbursements lack them.
 */
export { openPayer, payerOf } from './bundling/deploy-contracts.ts'
export { decideReview } from './decide-review.ts'
export { gasFeeAt, gasPriceNow, nativeFee } from './delivery-price.ts'
export { startTreasury } from './follow.ts'
export { type GasFaucet, gasLevels } from './gas.ts'
export { journaledResources } from './journaled-resources.ts'
export { merchantBalances } from './merchant-balances.ts'
export { merchantWalletIdOf } from './merchant-wallet.ts'
export { openEntityPayer, openPlatformPayer, submitPlatformCall } from './platform-calls.ts'
export { type ReviewWithValue, withValues } from './reviewed-values.ts'
export { type MoneyLink, moneyLinks, treasuryMovements } from './store/movements.ts'
export type { TreasuryRow } from './store/treasuries.ts'
export { type TreasuryState, type TreasuryToken, treasuryStates } from './treasury-states.ts'
export type { Waiting } from './types.ts'
