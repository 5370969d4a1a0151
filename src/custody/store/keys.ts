import { type Db, sql } from '#runtime/db/db'

/** A key with its private key sealed: under the context `walletPrivateKey`, or `platformPrivateKey`. */
export type KeyRow = {
  entityId: string
  id: string
  /** Opened by: `wallet` the root key with the entity secret, `platform` the root key alone, `user` the user's key. */
  class: 'wallet' | 'platform' | 'user'
  walletSetId: string | null
  family: string
  derivationIndex: number
  address: string
  /** As wallets show it; null where they show the address alone. */
  publicKey: string | null
  sealedPrivateKey: Buffer
}

const columns = sql`k.entity_id, k.id, k.class, k.wallet_set_id, k.family, k.derivation_index, k.address, k.public_key,
  k.sealed_private_key`

/** A key with the user who alone opens it, if there is one. */
type OwnedKey = KeyRow & { userId: string | null }

export const findKey = (db: Db, entityId: string, id: string) =>
  db.maybe<OwnedKey>(sql`select ${columns}, s.user_id from keys k
    left join wallet_sets s on s.entity_id = k.entity_id and s.id = k.wallet_set_id
    where k.entity_id = ${entityId} and k.id = ${id}`)

/** A key of a wallet set at its index. */
export type IndexedKey = { id: string; derivationIndex: number; address: string }

/** Returns the keys of a wallet set and a family at the indexes `from` to `to`, both inclusive, in no order. */
export const keysOfSet = (
  tx: Db,
  entityId: string,
  walletSetId: string,
  family: string,
  from: number,
  to: number,
) =>
  tx.all<IndexedKey>(sql`select id, derivation_index, address from keys
    where entity_id = ${entityId} and class in ('wallet', 'user') and wallet_set_id = ${walletSetId} and family = ${family}
      and derivation_index between ${from} and ${to}`)

export const insertKeys = (tx: Db, rows: readonly KeyRow[], createDate: string) =>
  tx.run(sql`insert into keys (entity_id, id, class, wallet_set_id, family, derivation_index, address,
      public_key, sealed_private_key, create_date)
    select *, ${createDate}::timestamptz from unnest(${rows.map((row) => row.entityId)}::uuid[],
      ${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.class)}::text[],
      ${rows.map((row) => row.walletSetId)}::uuid[], ${rows.map((row) => row.family)}::text[],
      ${rows.map((row) => row.derivationIndex)}::int[], ${rows.map((row) => row.address)}::text[],
      ${rows.map((row) => row.publicKey)}::text[], ${rows.map((row) => row.sealedPrivateKey)}::bytea[]) as row`)

/** A sealed value by the id of its row. */
export type Sealed = { id: string; sealed: Buffer }

/** Locks and returns a batch of an entity's wallet keys in the order of their ids, to reseal them. */
export const lockWalletKeys = (tx: Db, entityId: string, afterId: string, limit: number) =>
  tx.all<Sealed>(sql`select id, sealed_private_key as sealed from keys
    where entity_id = ${entityId} and class = 'wallet' and id > ${afterId} order by id limit ${limit} for no key update`)

export const resealKeys = (tx: Db, entityId: string, rows: readonly Sealed[]) =>
  tx.run(sql`update keys k set sealed_private_key = row.sealed
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.sealed)}::bytea[]) as row(id, sealed)
    where k.entity_id = ${entityId} and k.id = row.id`)
