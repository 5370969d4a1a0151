import { type Db, scan, sql } from '#runtime/db/db'

/** A violation that constraints and triggers prevent, so only a manual change of the database can cause it. */
export type BookError = { what: string; id: string }

const shownMax = 100

/** Sums of the open holds of each account; those for gas hold the unclaimed coins beside it, too. */
const openHolds = sql`select h.entity_id, h.account_id, sum(h.amount) as sum,
    sum(h.amount) filter (where h.purpose in ('fee', 'gas')) as for_gas
  from holds h where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)
  group by 1, 2`

/** Checks the books: entries sum to zero, and balances are the sums of their entries and open holds. */
export const checkBooks = (db: Db) =>
  scan<BookError>(
    db,
    sql`
    (select 'the entries of a posting do not sum to zero' as what, e.posting_id::text as id
      from entries e join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
      group by e.entity_id, e.posting_id, a.token_id, a.currency having sum(e.amount) <> 0 limit ${shownMax})
    union all
    (select 'a balance is not the sum of its entries and open holds', a.id::text
      from accounts a
      left join (select entity_id, account_id, sum(amount) as sum from entries group by 1, 2) e
        on e.entity_id = a.entity_id and e.account_id = a.id
      left join (${openHolds}) h on h.entity_id = a.entity_id and h.account_id = a.id
      left join accounts o on o.entity_id = a.entity_id and a.kind = 'unclaimed' and o.kind = 'address'
        and o.address = a.address and o.token_id = a.token_id
      left join (${openHolds}) g on g.entity_id = o.entity_id and g.account_id = o.id
      where a.posted <> coalesce(e.sum, 0) or a.held <> coalesce(h.sum, 0) + coalesce(g.for_gas, 0) limit ${shownMax})`,
  )
