import { canonicalAddress } from '#chains/addresses/canonical'

/** The filters of a list of wallets with the address in stored form: a query may write it in any case. */
export const canonicalWalletFilters = <Query extends { address?: string }>(query: Query): Query =>
  query.address === undefined ? query : { ...query, address: canonicalAddress(query.address) }
