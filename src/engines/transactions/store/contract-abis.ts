import { type Db, sql } from '#runtime/db/db'

/** The contract of a call: the one at an address, or the one that a transaction creates. */
type CalledContract = { address: string } | { deploymentId: string }

/** A contract is imported at most once, and deployed to an address once; a retried deployment may add one. */
const contractsMax = 3

/** The ABIs, as JSON, that the entity has for a contract and its implementation, as far as they declare errors. */
export async function abisWithErrors(
  db: Db,
  entityId: string,
  blockchain: string,
  contract: CalledContract,
): Promise<string[]> {
  const isCalled =
    'address' in contract
      ? sql`i.blockchain = ${blockchain} and i.address = ${contract.address}`
      : sql`i.deployment_id = ${contract.deploymentId}`
  const rows = await db.all<{ abiJson: string }>(sql`select t.abi_json from (
      select i.abi_json, i.implementation_abi_json from contract_interfaces i
      where i.entity_id = ${entityId} and ${isCalled} limit ${contractsMax}) c,
    unnest(array[c.abi_json, c.implementation_abi_json]) as t(abi_json)
    where t.abi_json like '%"error"%'`)
  return rows.map(({ abiJson }) => abiJson)
}
