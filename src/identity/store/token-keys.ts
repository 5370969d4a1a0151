import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

export type UserTokenKeyRow = {
  id: string
  /** SubjectPublicKeyInfo (DER). */
  publicKey: Buffer
  sealedPrivateKey: Buffer
  createDate: string
}

const columns = sql`id, public_key, sealed_private_key, create_date`

/** The newest key that was made after `sinceMs`. */
export const newestUserTokenKey = (db: Db, sinceMs: number) =>
  db.maybe<UserTokenKeyRow>(sql`select ${columns} from user_token_keys where create_date > ${formatInstant(sinceMs)}
    order by create_date desc, id desc limit 1`)

/** The keys that were made after `sinceMs`, newest first. */
export const listUserTokenKeys = (db: Db, sinceMs: number) =>
  db.all<UserTokenKeyRow>(sql`select ${columns} from user_token_keys where create_date > ${formatInstant(sinceMs)}
    order by create_date desc, id desc`)

/** Serializes the creation of keys between processes until the `tx` ends. */
export const lockUserTokenKeys = (tx: Db) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('user token keys', 0))`)

export const insertUserTokenKey = (tx: Db, row: UserTokenKeyRow) =>
  tx.run(sql`insert into user_token_keys (id, public_key, sealed_private_key, create_date)
    values (${row.id}, ${row.publicKey}, ${row.sealedPrivateKey}, ${row.createDate})`)
