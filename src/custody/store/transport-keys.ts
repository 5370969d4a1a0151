import { type Db, sql } from '#runtime/db/db'

/** A key for which clients encrypt entity secrets; the public one in PEM. */
export type TransportKeyRow = { id: string; publicKey: string; sealedPrivateKey: Buffer }

const columns = sql`id, public_key, sealed_private_key`

/** Transport keys, newest first: clients get the newest, ciphertexts made with any of them are accepted. */
export const transportKeys = (db: Db) =>
  db.all<TransportKeyRow>(sql`select ${columns} from transport_keys order by create_date desc, id desc`)

/** The first transport key: each installation makes one when it starts. */
export const oldestTransportKey = (db: Db) =>
  db.maybe<TransportKeyRow>(sql`select ${columns} from transport_keys order by create_date, id limit 1`)

export const newestPublicKey = (db: Db) =>
  db.maybe<{ publicKey: string }>(sql`select public_key from transport_keys
    order by create_date desc, id desc limit 1`)

/** Serialises the making of the first key between processes; held until the end of the tx. */
export const lockTransportKeys = (tx: Db) =>
  tx.run(sql`lock table transport_keys in share row exclusive mode`)

export const insertTransportKey = (tx: Db, row: TransportKeyRow & { createDate: string }) =>
  tx.run(sql`insert into transport_keys (id, public_key, sealed_private_key, create_date)
    values (${row.id}, ${row.publicKey}, ${row.sealedPrivateKey}, ${row.createDate})`)

/** Copies the keys that another database lacks, so that ciphertexts for them are still accepted there. */
export async function copyTransportKeys(from: Db, to: Db): Promise<void> {
  type Row = TransportKeyRow & { createDate: string }
  for (const row of await from.all<Row>(sql`select ${columns}, create_date from transport_keys`))
    await to.run(sql`insert into transport_keys (id, public_key, sealed_private_key, create_date)
      values (${row.id}, ${row.publicKey}, ${row.sealedPrivateKey}, ${row.createDate}) on conflict do nothing`)
}
