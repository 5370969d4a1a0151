/** The tokens of the books: the listed ones, and those that only appeared on a chain. */
export {
  listTokens,
  nativeToken,
  nativeTokenId,
  requireNetworksOfBooks,
  seedTokens,
  type Token,
  type TokenFilters,
  tokenByAddress,
  tokenById,
  tokensByIds,
  tokensOf,
} from './store/tokens.ts'
export {
  type BalanceUnit,
  balanceUnits,
  insertItems,
  keepUnlistedTokens,
  knownTokens,
  listedNames,
  setItemUri,
  unlistedTokenId,
} from './store/unlisted-tokens.ts'
