import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

/**
 * The fees that a treasury pays for the wallets of its entity on a chain, for one of them and for all: those of transactions that
 * ended since a time, with what they took beside the fee, and the most that those in flight may cost.
 */
export const feesPaidFor = (
  db: Db,
  { entityId, blockchain, walletId }: { entityId: string; blockchain: string; walletId: string },
  sinceMs: number,
) =>
  db.one<{ ofEntity: bigint; ofWallet: bigint }>(sql`select coalesce(sum(f.fee), 0) as of_entity,
      coalesce(sum(f.fee) filter (where f.wallet_id = ${walletId}), 0) as of_wallet
    from (select t.wallet_id, case when t.network_fee is null then (select max(coalesce(a.fee_max, a.gas_limit * a.max_fee)
            + coalesce(a.deposit, 0)) from attempts a
          where a.entity_id = t.entity_id and a.transaction_id = t.id and a.state in ('signed', 'sent'))
        else t.network_fee + coalesce((select max(a.deposit) from attempts a where a.entity_id = t.entity_id
          and a.transaction_id = t.id and a.tx_hash = t.tx_hash), 0) end as fee
      from transactions t where t.entity_id = ${entityId} and t.blockchain = ${blockchain} and t.fee_payer is not null
        and t.wallet_id is not null and t.update_date > ${formatInstant(sinceMs)}) f`)
