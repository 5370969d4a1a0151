import { type Db, sql } from '#runtime/db/db'

/** The keys of one id: a P-256 pair and an Ed25519 pair. */
export type WebhookKeyRow = {
  id: string
  /** SubjectPublicKeyInfo (DER) of the P-256 key. */
  publicKey: Buffer
  sealedPrivateKey: Buffer
  /** The 32 bytes of the Ed25519 key. */
  ed25519PublicKey: Buffer
  sealedEd25519PrivateKey: Buffer
  createDate: string
}

const columns = sql`id, public_key, sealed_private_key, ed25519_public_key, sealed_ed25519_private_key, create_date`

export const newestWebhookKey = (db: Db) =>
  db.maybe<WebhookKeyRow>(sql`select ${columns} from webhook_keys order by create_date desc, id desc limit 1`)

export const newestWebhookKeyId = async (db: Db): Promise<string | undefined> =>
  (
    await db.maybe<{ id: string }>(
      sql`select id from webhook_keys order by create_date desc, id desc limit 1`,
    )
  )?.id

export const listWebhookKeys = (db: Db) =>
  db.all<WebhookKeyRow>(sql`select ${columns} from webhook_keys order by create_date desc, id desc`)

/** Serializes the creation of keys between processes until the `tx` ends. */
export const lockWebhookKeys = (tx: Db) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('webhook keys', 0))`)

export const insertWebhookKey = (tx: Db, row: WebhookKeyRow) =>
  tx.run(sql`insert into webhook_keys (id, public_key, sealed_private_key, ed25519_public_key,
      sealed_ed25519_private_key, create_date)
    values (${row.id}, ${row.publicKey}, ${row.sealedPrivateKey}, ${row.ed25519PublicKey},
      ${row.sealedEd25519PrivateKey}, ${row.createDate})`)

export const findWebhookKey = (db: Db, id: string) =>
  db.maybe<WebhookKeyRow>(sql`select ${columns} from webhook_keys where id = ${id}`)
