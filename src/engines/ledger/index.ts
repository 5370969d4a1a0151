/**
 * The books: double entry for every managed address, and for the money of merchants. Postings record facts, so they always
 * succeed; holds reserve outgoing amounts, and only holds can be refused. Database constraints, not this code, ensure that
 * entries sum to zero, that a hold is resolved once and that no amount is held twice.
 */
export {
  type AccountKind,
  accountKinds,
  type Balance,
  balancesOf,
  coinsByUse,
  type HeldAmount,
  openUnclaimedCoins,
  ownsAtLeast,
} from './store/accounts.ts'
export { type ItemBalance, listBalances, listItems, type TokenBalance } from './store/balances.ts'
export {
  type BookedEntry,
  type BookedFact,
  entriesOfPostings,
  factsOfBlocks,
  factsOfMoney,
} from './store/booked-facts.ts'
export { type BookError, checkBooks } from './store/check.ts'
export { bookedAmounts, driftedAt, driftPosting, type UnlistedBalance } from './store/drifts.ts'
export { type Account, accountsPage, findAccount } from './store/list-accounts.ts'
export { entriesPage } from './store/list-entries.ts'
export {
  adjustmentEntries,
  claimedEntries,
  currencyDecimals,
  type UnclaimedCoins,
  unclaimedEntries,
  walletEntries,
  walletMoney,
} from './store/money.ts'
export { type Entry, type Posting, post, reversePostings } from './store/postings.ts'
export { coinTotals, heldMoney } from './store/totals.ts'
