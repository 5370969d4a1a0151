import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { claimInTurns } from '#runtime/turns/claim'
import { lookedAtMax, type Turn } from '#runtime/turns/store'

/** Money received by wire. Amounts are base units with `decimals` digits; dates are formatted for responses. */
export type FiatDeposit = {
  entityId: string
  id: string
  walletId: string
  currency: string
  decimals: number
  amount: bigint
  status: 'pending' | 'complete' | 'failed'
  /** The linked account that the wire names; null where it names none. */
  bankAccountId: string | null
  createDate: string
  updateDate: string
}

/** Coins for a wire, or for a redemption that came back: their amount and their destination. */
export type Wire = Pick<FiatDeposit, 'entityId' | 'id' | 'currency' | 'amount'> & {
  blockchain: string
  address: string
  /** The redemption whose money comes back. */
  redemptionId: string | null
}

type WireKey = Pick<Wire, 'entityId' | 'id'>

/** A wire to insert. With the hash of a transaction, that brings the coins; without one they are minted. */
type NewFiatDeposit = Wire &
  Omit<FiatDeposit, 'status'> & {
    trackingRef: string
    accountNumber: string
    bankReference: string | null
    transactionHash: string | null
  }

/** False when the entity has a deposit with this reference of the bank, or of this transaction, already. */
export const insertWire = async (tx: Db, wire: NewFiatDeposit): Promise<boolean> =>
  (await tx.run(sql`insert into fiat_deposits (entity_id, id, wallet_id, currency, decimals, amount, tracking_ref,
      account_number, blockchain, address, state, transaction_hash, bank_account_id, redemption_id, bank_reference,
      create_date, update_date)
    values (${wire.entityId}, ${wire.id}, ${wire.walletId}, ${wire.currency}, ${wire.decimals},
      ${wire.amount.toString()}, ${wire.trackingRef}, ${wire.accountNumber}, ${wire.blockchain}, ${wire.address},
      ${wire.transactionHash === null ? 'waiting' : 'minted'}, ${wire.transactionHash}, ${wire.bankAccountId},
      ${wire.redemptionId}, ${wire.bankReference}, ${wire.createDate}, ${wire.updateDate})
    on conflict do nothing`)) === 1

/** Wakes the minting workers when this `tx` commits. */
export const announceWire = (tx: Db) => tx.run(sql`select pg_notify('wires', '')`)

const wireColumns = raw('d.entity_id, d.id, d.currency, d.amount, d.blockchain, d.address, d.redemption_id')

/** Claims the next wire to mint, which no other worker can claim then: round-robin over tenants, the oldest of each first. */
export async function takeWire(db: Db, turn: Turn, at: string): Promise<Wire | undefined> {
  const claim = {
    from: sql`fiat_deposits d`,
    alias: 'd',
    where: () => sql`d.state = 'waiting'`,
    order: sql`d.create_date`,
    columns: sql`d.id`,
    change: (
      entityId: string,
    ) => sql`update fiat_deposits d set state = 'minting', update_date = ${at} from taken
      where d.entity_id = ${entityId} and d.id = taken.id returning ${wireColumns}`,
  }
  const [taken] = await claimInTurns<Wire>(db, turn, claim, 1)
  return taken
}

/** Ends the mint of a wire: with the hash of its transaction, as failed, or to be minted again. */
export const endMint = (
  db: Db,
  { entityId, id }: Wire,
  state: 'minted' | 'failed' | 'waiting',
  { transactionHash, at }: { transactionHash: string | undefined; at: string },
) =>
  db.run(sql`update fiat_deposits set state = ${state},
      transaction_hash = ${transactionHash ?? null}, update_date = ${at}
    where entity_id = ${entityId} and id = ${id} and state = 'minting'`)

type LostWire = Wire & { createDate: string }

/** The oldest wire whose mint began before `since` and did not end, locked until the `tx` ends; it is not minted again. */
export async function lockLostWire(tx: Db, since: string): Promise<LostWire | undefined> {
  const isLost = sql`d.state = 'minting' and d.update_date < ${since}`
  const found = await tx.all<LostWire>(sql`select ${wireColumns}, d.create_date from fiat_deposits d
    where ${isLost} order by d.create_date limit ${lookedAtMax}`)
  for (const { entityId, id } of found) {
    const lost = await tx.maybe<LostWire>(sql`select ${wireColumns}, d.create_date from fiat_deposits d
      where d.entity_id = ${entityId} and d.id = ${id} and ${isLost} for update skip locked`)
    if (lost) return lost
  }
  return undefined
}

/** Hashes of the transactions that brought the amount of a wire to its treasury and belong to no other wire. */
export const arrivalsOfWire = async (db: Db, wire: Wire): Promise<string[]> =>
  (
    await db.all<{ hash: string }>(sql`select a.tx_hash as hash from treasury_arrivals a
      where a.entity_id = ${wire.entityId} and a.blockchain = ${wire.blockchain} and a.address = ${wire.address}
        and a.currency = ${wire.currency} and a.amount = ${wire.amount.toString()}
        and not exists (select 1 from fiat_deposits o
          where o.entity_id = a.entity_id and o.transaction_hash = a.tx_hash)`)
  ).map(({ hash }) => hash)

/**
 * Wires whose coins arrived from outside in a canonical block up to `completeTo`, locked until the `tx` ends. Coins that `bookUnclaimed`
 * did not book are no new ones: the platform moved them, as when it rebalances.
 */
export async function lockArrivedWires(tx: Db, blockchain: string, completeTo: number): Promise<Wire[]> {
  const hasArrived = sql`d.blockchain = ${blockchain} and d.state = 'minted' and exists (select 1 from treasury_arrivals a
      where a.entity_id = d.entity_id and a.blockchain = d.blockchain and a.tx_hash = d.transaction_hash
        and a.address = d.address and a.currency = d.currency and a.amount = d.amount
        and a.block_number <= ${completeTo} and exists (select 1 from unclaimed_arrivals u
          where u.entity_id = a.entity_id
            and u.fact = concat_ws(':', 'unclaimed', a.block_hash, a.tx_hash, a.kind, a.position)))`
  const found = await tx.all<WireKey>(sql`select d.entity_id, d.id from fiat_deposits d where ${hasArrived}`)
  return perEntity(found, (entityId, own) =>
    tx.all<Wire>(sql`select ${wireColumns} from fiat_deposits d
      where d.entity_id = ${entityId} and d.id = any(${own.map(({ id }) => id)}::uuid[]) and ${hasArrived}
      order by d.id for update of d`),
  )
}

/** Credited wires whose coins arrived in these transfers, locked until the `tx` ends. */
export const lockCompleteWires = (tx: Db, transfers: readonly { entityId: string; txHash: string }[]) =>
  perEntity(transfers, (entityId, own) =>
    tx.all<Wire>(sql`select ${wireColumns} from fiat_deposits d
      where d.entity_id = ${entityId} and d.transaction_hash = any(${own.map(({ txHash }) => txHash)}::text[])
        and d.state = 'complete' order by d.id for update`),
  )

export async function setWires(
  tx: Db,
  wires: readonly Wire[],
  state: 'minted' | 'complete',
  at: string,
): Promise<void> {
  if (wires.length === 0) return
  await tx.run(sql`update fiat_deposits d set state = ${state}, update_date = ${at}
    where (d.entity_id, d.id) in (select * from unnest(${wires.map((wire) => wire.entityId)}::uuid[],
      ${wires.map((wire) => wire.id)}::uuid[]))`)
}

const columns = raw(`d.entity_id, d.id, d.wallet_id, d.currency, d.decimals, d.amount,
  case when d.state = 'failed' then 'failed' when d.state = 'complete' or t.status = 'complete' then 'complete'
    else 'pending' end as status, d.bank_account_id,
  d.create_date, greatest(d.update_date, t.update_date) as update_date`)

/** Wires, joined with the transfer that brought the coins where the state is `transferred`. */
const deposits =
  raw(`fiat_deposits d left join transfers t on d.state = 'transferred' and t.entity_id = d.entity_id and t.direction = 'in'
  and t.blockchain = d.blockchain and t.transaction_hash = d.transaction_hash and t.to_address = d.address`)

export const findFiatDeposit = (db: Db, entityId: string, id: string) =>
  db.maybe<FiatDeposit>(
    sql`select ${columns} from ${deposits} where d.entity_id = ${entityId} and d.id = ${id} and d.redemption_id is null`,
  )

/** The redemption that a deposit brings back; undefined for other deposits. */
export const redemptionBroughtBack = async (db: Db, entityId: string, id: string) =>
  (
    await db.maybe<{ redemptionId: string }>(sql`select redemption_id from fiat_deposits
      where entity_id = ${entityId} and id = ${id} and redemption_id is not null`)
  )?.redemptionId

/** A wire or return that a bank has reported. `minted`: its transaction is named, and has brought no coins yet. */
export type ReportedWire = Wire & {
  bankAccountId: string
  state: 'waiting' | 'minting' | 'minted' | 'complete' | 'failed' | 'transferred'
  transactionHash: string | null
}

const reportedColumns = sql`${wireColumns}, d.bank_account_id, d.state, d.transaction_hash`

/** Locks the deposit that the bank calls so. */
export const lockReported = (tx: Db, entityId: string, bankReference: string) =>
  tx.maybe<ReportedWire>(sql`select ${reportedColumns} from fiat_deposits d
    where d.entity_id = ${entityId} and d.bank_reference = ${bankReference} for update`)

/** Locks the return of a redemption. */
export const lockReturn = (tx: Db, entityId: string, redemptionId: string) =>
  tx.maybe<ReportedWire>(sql`select ${reportedColumns} from fiat_deposits d
    where d.entity_id = ${entityId} and d.redemption_id = ${redemptionId} for update`)

/** Names another transaction for a wire. False when another deposit or return of the entity has it. */
export const setTransaction = async (
  tx: Db,
  { entityId, id, blockchain }: Wire,
  transactionHash: string,
  at: string,
): Promise<boolean> =>
  (await tx.run(sql`update fiat_deposits set transaction_hash = ${transactionHash}, update_date = ${at}
    where entity_id = ${entityId} and id = ${id} and not exists (select 1 from fiat_deposits o
      where o.entity_id = ${entityId} and o.blockchain = ${blockchain} and o.transaction_hash = ${transactionHash})`)) ===
  1

export function listFiatDeposits(db: Db, entityId: string, page: PageQuery): Promise<Page<FiatDeposit>> {
  const scope = sql`d.entity_id = ${entityId} and d.redemption_id is null`
  const source: Source = { columns, from: deposits, alias: 'd', scope, filters: [] }
  return readPage<FiatDeposit>(db, source, page)
}
