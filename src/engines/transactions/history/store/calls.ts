import { type Db, sql } from '#runtime/db/db'

/** The call that a transaction was accepted with. */
type AcceptedCall = {
  id: string
  blockchain: string
  callTo: string | null
  callValue: bigint
  callData: Buffer
}

/** The calls of these outgoing transactions. */
export const acceptedCalls = (db: Db, entityId: string, ids: readonly string[]) =>
  db.all<AcceptedCall>(sql`select t.id, t.blockchain, t.call_to, t.call_value, t.call_data from transactions t
    where t.entity_id = ${entityId} and t.id = any(${ids}::uuid[]) and t.call_data is not null
      and t.call_value is not null`)
