import { type Db, join, sql } from '#runtime/db/db'

/** The number of transactions in a state, and the age of the oldest. `waiting`: nothing is signed for it yet. */
type QueueDepth = {
  blockchain: string
  state: 'waiting' | 'signed' | 'sent'
  depth: number
  oldestDate: string | null
}

/** Maximum depth that is counted: the cost of the query must not grow with the queue. */
const countedMax = 10_000

/** Depths of the queues of these chains: accepted transactions that are in no block yet. */
export async function queueDepths(db: Db, blockchains: readonly string[]): Promise<QueueDepth[]> {
  const depthsOn = (
    blockchain: string,
  ) => sql`select ${blockchain}::text as blockchain, q.state, count(*) as depth,
      min(q.create_date) as oldest_date
    from (
      (select 'waiting' as state, t.create_date from transactions t
        where t.blockchain = ${blockchain} and t.transaction_type = 'OUTBOUND'
          and t.state in ('CLEARED', 'QUEUED') and t.tx_hash is null and t.user_op_hash is null limit ${countedMax})
      union all
      (select 'waiting', t.create_date from transactions t
        where t.blockchain = ${blockchain} and t.transaction_type = 'OUTBOUND'
          and t.state = 'INITIATED' and t.screening is null limit ${countedMax})
      union all
      (select a.state, a.create_date from attempts a
        where a.blockchain = ${blockchain} and a.state in ('signed', 'sent') limit ${countedMax})
    ) q group by q.state`
  return blockchains.length === 0 ? [] : db.all<QueueDepth>(join(blockchains.map(depthsOn), ' union all '))
}
