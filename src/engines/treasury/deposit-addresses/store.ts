import { type Db, sql } from '#runtime/db/db'
import { nullable, type RowOf, table, text, timestamptz, uuid } from '#runtime/db/table'

const depositAddresses = table('deposit_addresses', {
  entityId: uuid,
  id: uuid,
  blockchain: text,
  chain: text,
  currency: text,
  address: text,
  /** Null for the wallet's own address on its chain. */
  paymentIntentId: nullable(uuid),
  createDate: timestamptz,
})

/** A deposit address of a payment intent, or of the wallet itself. */
export type DepositAddress = Omit<RowOf<typeof depositAddresses>, 'createDate'>

const columns = depositAddresses.without('createDate').columns('d')

export const insertDepositAddress = (tx: Db, deposit: RowOf<typeof depositAddresses>) =>
  tx.run(depositAddresses.insert([deposit]))

/** Returns the deposit addresses of observed transfers to such addresses, by `ownerId`. */
export const depositAddressesOf = (db: Db, owners: readonly { entityId: string; ownerId: string }[]) =>
  db.all<DepositAddress>(sql`select ${columns} from deposit_addresses d
    where (d.entity_id, d.id) in (select * from unnest(${owners.map((owner) => owner.entityId)}::uuid[],
      ${owners.map((owner) => owner.ownerId)}::uuid[]))`)

/** The addresses of an intent, the oldest first: one on each chain. */
export const depositAddressesOfIntent = (db: Db, entityId: string, paymentIntentId: string) =>
  db.all<DepositAddress>(sql`select ${columns} from deposit_addresses d
    where d.entity_id = ${entityId} and d.payment_intent_id = ${paymentIntentId} order by d.create_date, d.id`)

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
