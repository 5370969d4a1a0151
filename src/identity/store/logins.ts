import { formatInstant } from '#lib/time'
import { type Db, raw, sql } from '#runtime/db/db'
import { removeExpired } from './expired.ts'

type DeviceToken = { id: string; deviceId: string; sealedEncryptionKey: Buffer; expireMs: number }

/** Stores the token of a device; it replaces the former one. */
export async function putDeviceToken(
  tx: Db,
  entityId: string,
  token: DeviceToken,
  nowMs: number,
): Promise<void> {
  await removeExpired(tx, 'device_tokens', entityId, nowMs)
  await tx.run(sql`insert into device_tokens (entity_id, device_id, id, sealed_encryption_key, expire_date, create_date)
    values (${entityId}, ${token.deviceId}, ${token.id}, ${token.sealedEncryptionKey},
      ${formatInstant(token.expireMs)}, ${formatInstant(nowMs)})
    on conflict (entity_id, device_id) do update set id = excluded.id,
      sealed_encryption_key = excluded.sealed_encryption_key, expire_date = excluded.expire_date,
      create_date = excluded.create_date`)
}

/** The active token of a device, if it has this id. */
export const findDeviceToken = (db: Db, entityId: string, deviceId: string, id: string) =>
  db.maybe<{ sealedEncryptionKey: Buffer }>(sql`select sealed_encryption_key
    from device_tokens where entity_id = ${entityId} and device_id = ${deviceId} and id = ${id}`)

export type LoginCode = {
  id: string
  deviceId: string
  email: string
  codeMac: Buffer
  entries: number
  isEnded: boolean
}

export async function insertLoginCode(
  tx: Db,
  entityId: string,
  code: Omit<LoginCode, 'entries' | 'isEnded'>,
  { nowMs, lifeMs }: { nowMs: number; lifeMs: number },
): Promise<void> {
  await removeExpired(tx, 'login_codes', entityId, nowMs)
  await tx.run(sql`insert into login_codes (entity_id, id, device_id, email, code_mac, expire_date, create_date)
    values (${entityId}, ${code.id}, ${code.deviceId}, ${code.email}, ${code.codeMac},
      ${formatInstant(nowMs + lifeMs)}, ${formatInstant(nowMs)})`)
}

const codeColumns = sql`id, device_id, email, code_mac, entries,
  ended_date is not null as is_ended`

export const lockLoginCode = (tx: Db, entityId: string, id: string) =>
  tx.maybe<LoginCode>(sql`select ${codeColumns} from login_codes
    where entity_id = ${entityId} and id = ${id} for update`)

export const countEntry = (tx: Db, entityId: string, id: string) =>
  tx.run(sql`update login_codes set entries = entries + 1 where entity_id = ${entityId} and id = ${id}`)

/** Ends a code; `false` when it had ended already: of several that use it at once, one does. */
export const endLoginCode = async (tx: Db, entityId: string, id: string, nowMs: number): Promise<boolean> =>
  (await tx.run(sql`update login_codes set ended_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id} and ended_date is null`)) === 1

/** Sends and wrong entries of an address before it has to wait, and the wait since the last one. */
const eachMax = 5
const waitMs = 60 * 60_000

/** Counts a send or an entry of an address; `false` when it has to wait. Of counts at once, one comes after the other. */
export async function countForEmail(
  tx: Db,
  entityId: string,
  email: string,
  what: 'send' | 'entry',
  nowMs: number,
): Promise<boolean> {
  const [count, date] = [raw(what === 'send' ? 'sends' : 'entries'), raw(`last_${what}_date`)]
  const [now, freed, expireDate] = [nowMs, nowMs - waitMs, nowMs + waitMs].map(formatInstant)
  await removeExpired(tx, 'login_limits', entityId, nowMs)
  const counted =
    await tx.run(sql`insert into login_limits as l (entity_id, email, ${count}, ${date}, expire_date)
    values (${entityId}, ${email}, 1, ${now}, ${expireDate})
    on conflict (entity_id, email) do update set ${date} = ${now}, expire_date = ${expireDate},
      ${count} = case when l.${date} > ${freed} then l.${count} + 1 else 1 end
    where l.${count} < ${eachMax} or l.${date} <= ${freed}`)
  return counted === 1
}

export const clearLimits = (tx: Db, entityId: string, email: string) =>
  tx.run(
    sql`update login_limits set sends = 0, entries = 0 where entity_id = ${entityId} and email = ${email}`,
  )

/** Uses up the active token of a device; `false` when it was replaced or used: of several that use it at once, one does. */
export const takeDeviceToken = async (
  tx: Db,
  entityId: string,
  deviceId: string,
  id: string,
): Promise<boolean> =>
  (await tx.run(sql`delete from device_tokens
    where entity_id = ${entityId} and device_id = ${deviceId} and id = ${id}`)) === 1

export const findEmailUser = async (db: Db, entityId: string, email: string): Promise<string | undefined> =>
  (
    await db.maybe<{ userId: string }>(sql`select user_id from user_emails
      where entity_id = ${entityId} and email = ${email}`)
  )?.userId

/** Serializes first logins of an address until the `tx` ends. */
export const lockEmail = (tx: Db, entityId: string, email: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`user email:${entityId}:${email}`}, 0))`)

export const insertEmailUser = (tx: Db, entityId: string, email: string, userId: string, nowMs: number) =>
  tx.run(sql`insert into user_emails (entity_id, email, user_id, create_date)
    values (${entityId}, ${email}, ${userId}, ${formatInstant(nowMs)})`)
