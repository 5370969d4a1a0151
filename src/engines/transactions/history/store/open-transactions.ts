import { type Db, sql } from '#runtime/db/db'

/** The stablecoins that transactions of wallets under way hold, and those that wallets received and an operator has not approved. */
export const coinsHeldByWallets = (db: Db, entityId: string) =>
  db.all<{ currency: string; heldAtomic: bigint }>(sql`select v.currency, trunc(sum(v.amount)) as held_atomic
    from (
      select t.entity_id, t.id from transactions t where t.entity_id = ${entityId} and t.wallet_id is not null
        and t.state in ('INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK') and t.state <> 'COMPLETE'
      union
      select r.entity_id, r.id from held_reviews r where r.entity_id = ${entityId}
    ) x cross join lateral (
      select h.currency, h.amount from held_coins h where h.entity_id = x.entity_id and h.intent_id = x.id offset 0) v
    group by v.currency`)

/** The transactions of wallets of an entity that offer less than the base fee, the oldest first. That a state is not COMPLETE is the condition of the index. */
export const stuckOf = (db: Db, entityId: string, limit: number) =>
  db.all<{
    id: string
    blockchain: string
    sinceDate: string
  }>(sql`select t.id, t.blockchain, t.update_date as since_date from transactions t
    where t.entity_id = ${entityId} and t.state = 'STUCK' and t.state <> 'COMPLETE' and t.wallet_id is not null
    order by t.create_date, t.id limit ${limit}`)
