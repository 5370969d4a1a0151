import { type Db, raw, sql } from '#runtime/db/db'

/** A deposit address of a payment intent, or of the wallet itself. */
export type DepositAddress = {
  entityId: string
  id: string
  blockchain: string
  chain: string
  currency: string
  address: string
  /** Null for the wallet's own address on its chain. */
  paymentIntentId: string | null
}

const columns = raw(`d.entity_id, d.id, d.blockchain, d.chain, d.currency, d.address, d.payment_intent_id`)

export async function insertDepositAddress(
  tx: Db,
  deposit: DepositAddress & { createDate: string },
): Promise<void> {
  await tx.run(sql`insert into deposit_addresses (entity_id, id, blockchain, chain, currency, address,
      payment_intent_id, create_date)
    values (${deposit.entityId}, ${deposit.id}, ${deposit.blockchain}, ${deposit.chain}, ${deposit.currency},
      ${deposit.address}, ${deposit.paymentIntentId}, ${deposit.createDate})`)
}

/** Returns the deposit addresses of observed transfers to such addresses, by `ownerId`. */
export const depositAddressesOf = (db: Db, owners: readonly { entityId: string; ownerId: string }[]) =>
  db.all<DepositAddress>(sql`select ${columns} from deposit_addresses d
    where (d.entity_id, d.id) in (select * from unnest(${owners.map((owner) => owner.entityId)}::uuid[],
      ${owners.map((owner) => owner.ownerId)}::uuid[]))`)

/** One of the wallet's own addresses. */
export const findDepositAddress = (db: Db, entityId: string, id: string) =>
  db.maybe<DepositAddress>(sql`select ${columns} from deposit_addresses d
    where d.entity_id = ${entityId} and d.id = ${id} and d.payment_intent_id is null`)

/** The wallet's own addresses, newest first: one for each chain, and superseded ones. */
export const listDepositAddresses = (db: Db, entityId: string) =>
  db.all<DepositAddress>(sql`select ${columns} from deposit_addresses d
    where d.entity_id = ${entityId} and d.payment_intent_id is null order by d.create_date desc, d.id desc`)

/** Returns the wallet's address on a chain; a lock keeps other transactions from creating it before this `tx` ends. */
export async function lockDepositAddress(
  tx: Db,
  { entityId, chain }: Pick<DepositAddress, 'entityId' | 'chain'>,
): Promise<DepositAddress | undefined> {
  const place = `deposit address:${entityId}:${chain}`
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`)
  return tx.maybe<DepositAddress>(sql`select ${columns} from deposit_addresses d where d.entity_id = ${entityId}
    and d.chain = ${chain} and d.payment_intent_id is null and not d.superseded`)
}
