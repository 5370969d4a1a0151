import { type Db, sql } from '#runtime/db/db'
import type { ManagedAddress, ManagedPurpose } from '../wallets/types.ts'

const columns = sql`m.entity_id, m.blockchain, m.address, m.key_id, m.purpose, m.owner_id`

export const insertManaged = (tx: Db, rows: readonly ManagedAddress[], createDate: string) =>
  tx.run(sql`insert into managed_addresses (entity_id, blockchain, address, key_id, purpose, owner_id, create_date)
    select *, ${createDate}::timestamptz from unnest(${rows.map((row) => row.entityId)}::uuid[],
      ${rows.map((row) => row.blockchain)}::text[], ${rows.map((row) => row.address)}::text[],
      ${rows.map((row) => row.keyId)}::uuid[], ${rows.map((row) => row.purpose)}::text[],
      ${rows.map((row) => row.ownerId)}::uuid[]) as row`)

export const findManaged = (db: Db, entityId: string, blockchain: string, address: string) =>
  db.maybe<ManagedAddress>(sql`select ${columns} from managed_addresses m
    where m.entity_id = ${entityId} and m.blockchain = ${blockchain} and m.address = ${address}`)

/** Returns those of the addresses on a blockchain that an entity manages here, whichever it is. */
export const managedAmong = (db: Db, blockchain: string, addresses: readonly string[]) =>
  db.all<ManagedAddress>(sql`select ${columns} from managed_addresses m
    where m.blockchain = ${blockchain} and m.address = any(${addresses}::text[])`)

/** Returns the next `limit` managed addresses of a blockchain after one, in the order of address and entity; `undefined` begins. */
export const managedAfter = (
  db: Db,
  blockchain: string,
  after: { address: string; entityId: string } | undefined,
  limit: number,
) =>
  db.all<ManagedAddress>(sql`select ${columns} from managed_addresses m
    where m.blockchain = ${blockchain} and (m.address, m.entity_id) >
      (${after?.address ?? ''}, ${after?.entityId ?? '00000000-0000-0000-0000-000000000000'}::uuid)
    order by m.address, m.entity_id limit ${limit}`)

/** An address of an entity on a blockchain. */
export type AddressAt = { blockchain: string; address: string }

/** Finds what the entity manages at each of these addresses, with the name of a wallet. */
export const namesAt = (db: Db, entityId: string, at: readonly AddressAt[]) =>
  db.all<AddressAt & { purpose: ManagedPurpose; name: string | null }>(sql`
    select m.blockchain, m.address, m.purpose, w.name
    from unnest(${at.map(({ blockchain }) => blockchain)}::text[], ${at.map(({ address }) => address)}::text[])
      as asked (blockchain, address)
    join managed_addresses m on m.entity_id = ${entityId} and m.blockchain = asked.blockchain and m.address = asked.address
    left join wallets w on m.purpose = 'wallet' and w.entity_id = m.entity_id and w.id = m.owner_id`)
