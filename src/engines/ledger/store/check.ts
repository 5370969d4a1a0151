import { type Db, scan, sql } from '#runtime/db/db'

/** A violation that constraints and triggers prevent, so only a manual change of the database can cause it. */
export type BookError = { what: string; id: string }

const shownMax = 100

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
      left join (select h.entity_id, x.id as account_id, sum(h.amount) as sum from holds h
          join accounts o on o.entity_id = h.entity_id and o.id = h.account_id
          cross join lateral (select o.id union all select u.id from accounts u where h.purpose in ('fee', 'gas')
            and o.kind = 'address' and u.entity_id = o.entity_id and u.address = o.address and u.token_id = o.token_id
            and u.kind = 'unclaimed') x
          where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)
          group by 1, 2) h on h.entity_id = a.entity_id and h.account_id = a.id
      where a.posted <> coalesce(e.sum, 0) or a.held <> coalesce(h.sum, 0) limit ${shownMax})`,
  )
