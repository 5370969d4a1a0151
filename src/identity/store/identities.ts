import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { removeExpired } from './expired.ts'

/** A subject of an issuer. */
export type UserIdentity = { issuer: string; subject: string }

export const findIdentityUser = async (
  db: Db,
  entityId: string,
  { issuer, subject }: UserIdentity,
): Promise<string | undefined> =>
  (
    await db.maybe<{ userId: string }>(sql`select user_id from user_identities
      where entity_id = ${entityId} and issuer = ${issuer} and subject = ${subject}`)
  )?.userId

/** Whether a login by e-mail or by a provider made this user. */
export async function logsIn(db: Db, entityId: string, userId: string): Promise<boolean> {
  const found =
    await db.maybe(sql`select from user_emails where entity_id = ${entityId} and user_id = ${userId}
    union all select from user_identities where entity_id = ${entityId} and user_id = ${userId} limit 1`)
  return found !== undefined
}

/** Whether the user has an identity of this issuer. */
export async function hasIdentityOf(
  db: Db,
  entityId: string,
  issuer: string,
  userId: string,
): Promise<boolean> {
  const found = await db.maybe(sql`select from user_identities
    where entity_id = ${entityId} and user_id = ${userId} and issuer = ${issuer}`)
  return found !== undefined
}

/** Serializes first logins of an identity until the `tx` ends. */
export const lockIdentity = (tx: Db, entityId: string, { issuer, subject }: UserIdentity) => {
  const name = `user identity:${JSON.stringify([entityId, issuer, subject])}`
  return tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
}

export const insertIdentityUser = (
  tx: Db,
  entityId: string,
  { issuer, subject }: UserIdentity,
  userId: string,
  nowMs: number,
) =>
  tx.run(sql`insert into user_identities (entity_id, issuer, subject, user_id, create_date)
    values (${entityId}, ${issuer}, ${subject}, ${userId}, ${formatInstant(nowMs)})`)

/** Records an ID token that begins a session; `false` when one was begun with it before. */
export async function insertUsedIdToken(
  tx: Db,
  entityId: string,
  { sha256, expireMs }: { sha256: Buffer; expireMs: number },
  nowMs: number,
): Promise<boolean> {
  await removeExpired(tx, 'used_id_tokens', entityId, nowMs)
  const inserted = await tx.run(sql`insert into used_id_tokens (entity_id, sha256, expire_date)
    values (${entityId}, ${sha256}, ${formatInstant(expireMs)}) on conflict do nothing`)
  return inserted === 1
}
