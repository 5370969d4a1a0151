import type { Chain } from '#chains/chain'
import type { AbiError } from '#chains/facets/contracts'
import { contractsOn } from '#chains/facets/optional'
import { ValueProblem } from '#chains/invalid-value'
import type { Db } from '#runtime/db/db'
import { abisWithErrors } from './store/contract-abis.ts'

type CallOfEntity = {
  entityId: string
  /** Null where the call creates a contract. */
  callTo: string | null
  /** The transaction that makes the call; an estimate has none. */
  id?: string
}

/** The errors that the called contract declares, by the ABI that this entity deployed or imported it with. */
export async function errorsOfCall(
  db: Db,
  chain: Chain,
  { entityId, callTo, id }: CallOfEntity,
): Promise<readonly AbiError[]> {
  const contract = callTo === null ? id !== undefined && { deploymentId: id } : { address: callTo }
  if (!contract) return []
  const abis = await abisWithErrors(db, entityId, chain.network.blockchain, contract)
  return abis.flatMap((json) => errorsIn(chain, json))
}

/** An ABI was checked when it was stored; one that an earlier version accepted explains nothing. */
function errorsIn(chain: Chain, json: string): readonly AbiError[] {
  try {
    return contractsOn(chain).readAbi(json).errors
  } catch (error) {
    if (error instanceof ValueProblem) return []
    throw error
  }
}
