import { type Db, sql } from '#runtime/db/db'

/** All amounts of one chain in base units, as of one followed block. */
export type ChainSums = {
  blockNumber: number
  blockHash: string
  /** The deposits of the wallet contract; the next is what it paid out. */
  depositedAtomic: bigint
  withdrawnAtomic: bigint
  burnedAtomic: bigint
  feesAtomic: bigint
  /** The amounts that transfers and payments reserve of balances here. */
  reservedAtomic: bigint
  /** The reserved part whose mint is seen: it is burned next. */
  unburnedAtomic: bigint
}

/** The sums of a chain in one statement, and so of one moment; `undefined` before its first block. */
export const sumsOf = (db: Db, blockchain: string) =>
  db.maybe<ChainSums>(sql`select b.number as block_number, b.hash as block_hash,
      coalesce(m.deposited, 0) as deposited_atomic, coalesce(m.withdrawn, 0) as withdrawn_atomic,
      coalesce(m.burned, 0) as burned_atomic, coalesce(m.fees, 0) as fees_atomic,
      coalesce(i.reserved, 0) + coalesce(p.accepted, 0) as reserved_atomic, coalesce(i.unburned, 0) as unburned_atomic
    from unified_heights h
    join canonical_blocks b on b.blockchain = h.blockchain and b.number = h.followed
    cross join lateral (select sum(amount) filter (where kind = 'deposited') as deposited,
        sum(amount) filter (where kind = 'withdrawalCompleted') as withdrawn,
        sum(amount) filter (where kind = 'burned') as burned, sum(fee) as fees
      from unified_movements where blockchain = h.blockchain) m
    cross join lateral (select sum(value + fee) as reserved,
        sum(value) filter (where exists (select 1 from unified_mints s where s.spec_hash = unified_intents.spec_hash)) as unburned
      from unified_intents where blockchain = h.blockchain and state = 'reserved') i
    cross join lateral (select sum(amount) as accepted from unified_payments
      where blockchain = h.blockchain and state in ('received', 'batched', 'confirmed')) p
    where h.blockchain = ${blockchain}`)

export type UnifiedBookError = { what: string; id: string }

const shownMax = 100

/** Balances that are not the sum of their movements and reservations, and transfers that the chains contradict. */
export const unifiedBookErrors = (db: Db) =>
  db.all<UnifiedBookError>(sql`
    select 'the balance is not the sum of its movements and reservations' as what,
      coalesce(b.blockchain, s.blockchain) || ' ' || coalesce(b.depositor, s.depositor) as id
    from unified_balances b
    full join (select blockchain, depositor, sum(atomic) as net from (
        select blockchain, depositor, coalesce(counted, 0) as atomic from unified_movements
        union all select blockchain, depositor, -(value + fee) from unified_intents where state <> 'returned'
        union all select blockchain, payer, -amount from unified_payments where state <> 'failed'
        union all select blockchain, payee, amount from unified_payments where state = 'completed'
      ) parts group by blockchain, depositor) s on s.blockchain = b.blockchain and s.depositor = b.depositor
    where coalesce(b.available - b.overdrawn, 0) <> coalesce(s.net, 0)
    union all
    select 'the mint is of no transfer of this service', m.spec_hash from unified_mints m
    where not exists (select 1 from unified_intents i where i.spec_hash = m.spec_hash)
    union all
    select 'the mint has another amount than its transfer', m.spec_hash from unified_mints m
    join unified_intents i on i.spec_hash = m.spec_hash where m.amount <> i.value
    union all
    select 'the transfer is minted more than once', spec_hash from unified_mints group by spec_hash having count(*) > 1
    union all
    select 'the burn is of a transfer that is not minted', i.spec_hash from unified_intents i where i.state = 'burned'
      and not exists (select 1 from unified_mints m where m.spec_hash = i.spec_hash)
    union all
    select 'the burn took less than the transfer', m.spec_hash from unified_movements m
    join unified_intents i on i.spec_hash = m.spec_hash where m.amount + m.fee < i.value + i.fee
    limit ${shownMax}`)
