import { type Db, sql } from '#runtime/db/db'

/** The value that a transaction under review moves: amounts as on the wire, in the token, from the source to the destination. */
export type ReviewedValue = {
  id: string
  blockchain: string
  amount: string | null
  tokenId: string | null
  /** The wallet of a transaction; deposits have the main wallet of the account. */
  walletId: string | null
  sourceAddress: string | null
  /** The contract of an execution. */
  destinationAddress: string | null
}

export const valuesOfTransactions = (db: Db, entityId: string, ids: readonly string[]) =>
  db.all<ReviewedValue>(sql`select t.id, t.blockchain, array_to_string(t.amounts, ', ') as amount,
      t.token_id, t.wallet_id, t.source_address,
      coalesce(t.destination_address, t.contract_address) as destination_address
    from transactions t where t.entity_id = ${entityId} and t.id = any(${ids}::uuid[])`)
