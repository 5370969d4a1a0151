import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

export type Challenge = { userHandle: Buffer | null; username: string | null }

/** Number of expired challenges that each new one removes: the table shrinks faster than it grows. */
const removedEach = 10

export async function insertPasskeyChallenge(
  tx: Db,
  entityId: string,
  challenge: Buffer,
  { userHandle, username }: Challenge,
  { nowMs, lifetimeMs }: { nowMs: number; lifetimeMs: number },
): Promise<void> {
  const [now, expireDate] = [nowMs, nowMs + lifetimeMs].map(formatInstant)
  await tx.run(sql`with expired as materialized (
      select challenge from passkey_challenges where entity_id = ${entityId} and expire_date <= ${now}
      order by expire_date limit ${removedEach} for update skip locked)
    delete from passkey_challenges where entity_id = ${entityId} and challenge in (select challenge from expired)`)
  await tx.run(sql`insert into passkey_challenges (entity_id, challenge, user_handle, username, expire_date)
    values (${entityId}, ${challenge}, ${userHandle}, ${username}, ${expireDate})`)
}

/** Removes a challenge and returns it, unless it is expired: of several answers to one challenge, one gets it. */
export const takeChallenge = (db: Db, entityId: string, challenge: Buffer, nowMs: number) =>
  db.maybe<Challenge>(sql`with taken as (
      delete from passkey_challenges where entity_id = ${entityId} and challenge = ${challenge}
      returning user_handle, username, expire_date)
    select user_handle, username from taken where expire_date > ${formatInstant(nowMs)}`)

export type Passkey = {
  id: string
  publicKey: Buffer
  counter: number
  rpId: string
  userHandle: Buffer
}
type NewPasskey = Passkey & { credentialId: Buffer; username: string; nowMs: number }

/** Stores a passkey; false when the entity has that credential already. */
export async function insertPasskey(tx: Db, entityId: string, passkey: NewPasskey): Promise<boolean> {
  const { id, credentialId, publicKey, counter, rpId, userHandle, username } = passkey
  const now = formatInstant(passkey.nowMs)
  const row =
    await tx.maybe(sql`insert into passkeys (entity_id, id, credential_id, public_key, counter, rp_id,
      user_handle, username, create_date, update_date)
    values (${entityId}, ${id}, ${credentialId}, ${publicKey}, ${counter}, ${rpId}, ${userHandle}, ${username}, ${now}, ${now})
    on conflict (entity_id, credential_id) do nothing returning id`)
  return row !== undefined
}

export const findPasskey = (db: Db, entityId: string, credentialId: Buffer) =>
  db.maybe<Passkey>(sql`select id, public_key, counter, rp_id, user_handle
    from passkeys where entity_id = ${entityId} and credential_id = ${credentialId}`)

/** Advances the counter; false when it has advanced as far or further meanwhile. 0 stays 0: such passkeys do not count. */
export async function advanceCounter(
  tx: Db,
  entityId: string,
  { id, counter, nowMs }: { id: string; counter: number; nowMs: number },
): Promise<boolean> {
  const row =
    await tx.maybe(sql`update passkeys set counter = ${counter}, update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id} and (counter < ${counter} or (counter = 0 and ${counter}::bigint = 0))
    returning id`)
  return row !== undefined
}
