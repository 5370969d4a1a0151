import { type Db, sql } from '#runtime/db/db'

/** The stablecoins of a currency on one chain, at all addresses of an entity, in millionths. */
type CoinTotal = { currency: string; blockchain: string; amountAtomic: bigint }

/**
 * The coins of an entity by currency and chain. The accounts of a token sum to zero, so what addresses own is what the accounts
 * without an address lack: a few rows, however many addresses there are.
 */
export const coinTotals = (db: Db, entityId: string) =>
  db.all<CoinTotal>(sql`select t.currency, t.blockchain, trunc(-sum(in_millionths(a.posted, t.decimals))) as amount_atomic
    from accounts a join tokens t on t.id = a.token_id and t.currency is not null
    where a.entity_id = ${entityId} and a.address = '' and a.token_id is not null and a.kind <> 'address'
    group by t.currency, t.blockchain order by t.currency, t.blockchain`)

/** The money of merchants that is reserved to leave, by currency. */
export const heldMoney = (db: Db, entityId: string) =>
  db.all<{
    currency: string
    heldAtomic: bigint
  }>(sql`select a.currency, sum(a.held) as held_atomic from accounts a
    where a.entity_id = ${entityId} and a.kind = 'wallet' and a.currency is not null group by a.currency`)
