import type { BookError } from '#engines/ledger/index'
import { type Db, join, raw, scan, sql } from '#runtime/db/db'

const shownMax = 100

/** The amounts that each deposit and disbursement contributes to its merchant's wallet: posted to it, and held in it. */
const says = [
  `select entity_id, merchant_wallet_id as wallet_id, currency, case type when 'payment' then amount else -amount end as posted,
    0 as held from payments where status = 'paid'`,
  `select entity_id, merchant_wallet_id, currency, 0, amount from payments where type = 'refund' and status = 'pending'`,
  `select entity_id, wallet_id, currency, case direction when 'in' then amount else -amount end, 0 from transfers
    where status = 'complete'`,
  `select entity_id, wallet_id, currency, 0, amount from transfers
    where direction = 'out' and status in ('pending', 'running')`,
  `select entity_id, wallet_id, currency, amount, 0 from fiat_deposits where state = 'complete'`,
  `select entity_id, wallet_id, currency, -amount, 0 from payouts where status = 'complete'`,
  `select entity_id, wallet_id, currency, 0, amount from payouts where status = 'pending'`,
  `select entity_id, wallet_id, currency, -amount, 0 from redemptions where status = 'complete'`,
  `select entity_id, wallet_id, currency, 0, amount from redemptions where status = 'pending'`,
].map(raw)

/** Finds merchants whose balance or holds differ from the sums of their deposits and disbursements: equal at any moment. */
export const checkMerchants = (db: Db) =>
  scan<BookError>(
    db,
    sql`with said as (
      select entity_id, wallet_id, currency, sum(posted) as posted, sum(held) as held
      from (${join(says, ' union all ')}) as each group by 1, 2, 3)
    select 'the balance or holds of a merchant differ from the sum of its deposits and disbursements' as what,
      entity_id || ' ' || currency as id
    from wallet_accounts w full join said s using (entity_id, wallet_id, currency)
    where coalesce(w.posted, 0) <> coalesce(s.posted, 0) or coalesce(w.held, 0) <> coalesce(s.held, 0)
    limit ${shownMax}`,
  )
