import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { ContractCreation } from '#chains/facets/accounts'
import { contractsOn } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import { oncePer } from '#runtime/scheduling/memoize'
import type { TreasuryRow } from '../store/treasuries.ts'
import { submitCall, whenNotCalling } from './submit-call.ts'

/** The addresses known to have code: contracts of accounts cannot be removed. */
const deployed = oncePer((_chain: Chain) => new Set<Address>())

/** Returns the creations of contracts that are not on the chain yet. */
export async function missingOf(
  chain: Chain,
  creations: readonly ContractCreation[],
): Promise<ContractCreation[]> {
  const known = deployed(chain)
  const missing: ContractCreation[] = []
  for (const creation of creations) {
    if (known.has(creation.address)) continue
    if (await contractsOn(chain).hasCode(creation.address)) known.add(creation.address)
    else missing.push(creation)
  }
  return missing
}

/** Has the treasury create contracts. Returns false, and does nothing, while creations of it are under way. */
export const createContracts = (
  ctx: EngineCtx,
  chain: Chain,
  treasury: TreasuryRow,
  missing: readonly ContractCreation[],
  actor: string,
): Promise<boolean> =>
  whenNotCalling(ctx, treasury, 'contract', actor, async (scope) => {
    for (const { call } of missing) await submitCall(scope, chain, treasury, 'contract', call)
  })
