import { type Db, sql } from '#runtime/db/db'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'
import type { SentTransaction } from '../store/platform-transactions.ts'

/** The purpose of a treasury's call for smart accounts: a bundle, the creation of a contract, a deposit, or the withdrawal of one. */
export type CallPurpose = 'bundle' | 'contract' | 'deposit' | 'withdrawal'

type AccountCall = { entityId: string; id: string; blockchain: string; purpose: CallPurpose }

export const insertAccountCall = (tx: Db, row: AccountCall & { createDate: string }) =>
  tx.run(sql`insert into account_calls (entity_id, id, blockchain, purpose, create_date)
    values (${row.entityId}, ${row.id}, ${row.blockchain}, ${row.purpose}, ${row.createDate})`)

/** Serializes the calls that an entity needs once, until the `tx` ends. */
export const lockCalls = (tx: Db, entityId: string, blockchain: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`calls:${entityId}:${blockchain}`}, 0))`)

/** The ids of the calls of this purpose that are under way, in their order. */
export const openCalls = async (
  db: Db,
  { entityId, blockchain, purpose }: Omit<AccountCall, 'id'>,
): Promise<string[]> => {
  const rows = await db.all<{
    id: string
  }>(sql`select c.id from account_calls c where c.blockchain = ${blockchain}
    and c.entity_id = ${entityId} and c.purpose = ${purpose} and not c.settled order by c.create_date, c.id`)
  return rows.map(({ id }) => id)
}

/** How far the transaction of a call has come. */
export type CallProgress = {
  id: string
  settled: boolean
  state: string
  txHash: string | null
  errorDetails: string | null
}

export const progressOf = (db: Db, entityId: string, ids: readonly string[]) =>
  db.all<CallProgress>(sql`select c.id, c.settled, t.state, t.tx_hash, t.error_details
    from account_calls c join platform_transactions t on t.entity_id = c.entity_id and t.id = c.id
    where c.entity_id = ${entityId} and c.id = any(${ids}::uuid[]) order by c.create_date, c.id`)

type SettledCall = AccountCall & { state: string; errorDetails: string | null }

/** Settles the calls whose transactions have ended, in a block or without one; entities take turns. */
export const settleCalls = (tx: Db, turn: Turn, blockchain: string, limit: number): Promise<SettledCall[]> =>
  claimInTurns<SettledCall>(
    tx,
    turn,
    {
      from: sql`account_calls c join platform_transactions t using (entity_id, id)`,
      alias: 'c',
      where: () => sql`c.blockchain = ${blockchain} and not c.settled
        and t.state in ('CONFIRMED', 'COMPLETE', 'FAILED', 'DENIED', 'CANCELLED')`,
      order: sql`c.create_date, c.id`,
      columns: sql`c.id, t.state, t.error_details`,
      change: (entityId) => sql`update account_calls c set settled = true from taken
        where c.entity_id = ${entityId} and c.id = taken.id
        returning c.entity_id, c.id, c.blockchain, c.purpose, taken.state, taken.error_details`,
    },
    limit,
  )

/** Settles calls again whose block was orphaned: the same transactions are sent again and decide again. */
export const reopenCalls = (tx: Db, blockchain: string, sent: readonly SentTransaction[]) =>
  tx.run(sql`update account_calls c set settled = false from platform_transactions t
    where t.entity_id = c.entity_id and t.id = c.id and c.blockchain = ${blockchain} and c.settled
      and (t.entity_id, t.tx_hash) in (select * from unnest(${sent.map((row) => row.entityId)}::uuid[],
        ${sent.map((row) => row.txHash)}::text[]))`)
