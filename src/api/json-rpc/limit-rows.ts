import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import type { Config } from '#runtime/config'
import { createBudgets } from '#runtime/scheduling/budgets'
import { oncePer } from '#runtime/scheduling/memoize'

/**
 * Rows that one address may create with the client key of an entity, and all addresses with that key together: wallets, claims,
 * challenges and passkeys. The key is public, and most of these rows stay.
 */
const budgetsIn = oncePer((_config: Config) => ({
  ofAddress: createBudgets({ perSecond: 1, burst: 1_000 }),
  ofKey: createBudgets({ perSecond: 20, burst: 20_000 }),
}))

/** Counts rows that a request creates; refuses them when too many were created shortly before. */
export function countRows({ config, entity, page }: Ctx, rows = 1): void {
  const { ofAddress, ofKey } = budgetsIn(config)
  const [address, key] = [[`${entity.id} ${page}`], [entity.id]]
  if (!ofAddress.hasLeft(address) || !ofKey.hasLeft(key)) throw new ApiError('rpcRowsExceeded')
  ofAddress.spend(address, rows)
  ofKey.spend(key, rows)
}
