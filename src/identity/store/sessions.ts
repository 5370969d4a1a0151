import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { removeExpired, removeExpiredSessions } from './expired.ts'

export async function insertSession(
  tx: Db,
  entityId: string,
  { id, userId, deviceId, nowMs }: { id: string; userId: string; deviceId: string; nowMs: number },
): Promise<void> {
  await removeExpiredSessions(tx, entityId, nowMs)
  await tx.run(sql`insert into user_sessions (entity_id, id, user_id, device_id, expire_date, create_date)
    values (${entityId}, ${id}, ${userId}, ${deviceId}, ${formatInstant(nowMs)}, ${formatInstant(nowMs)})`)
}

/** Ends a session with all of its tokens. */
export const endSession = (tx: Db, entityId: string, id: string, nowMs: number) =>
  tx.run(sql`update user_sessions set ended_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id} and ended_date is null`)

/** Ends all sessions of a user, with their tokens. */
export const endSessionsOf = (tx: Db, entityId: string, userId: string, nowMs: number) =>
  tx.run(sql`update user_sessions set ended_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and user_id = ${userId} and ended_date is null`)

type RefreshToken = {
  sessionId: string
  userId: string
  deviceId: string
  isUsed: boolean
  isEnded: boolean
  expireDate: string
}

/** Locks a refresh token until the `tx` ends, so that one request at a time decides about it. */
export const lockRefreshToken = (tx: Db, entityId: string, sha256: Buffer) =>
  tx.maybe<RefreshToken>(sql`select r.session_id, s.user_id, s.device_id, r.used_date is not null as is_used,
      s.ended_date is not null as is_ended, r.expire_date
    from refresh_tokens r join user_sessions s on s.entity_id = r.entity_id and s.id = r.session_id
    where r.entity_id = ${entityId} and r.sha256 = ${sha256} for update of r`)

export const useRefreshToken = (tx: Db, entityId: string, sha256: Buffer, nowMs: number) =>
  tx.run(sql`update refresh_tokens set used_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and sha256 = ${sha256}`)

type NewRefreshToken = { sha256: Buffer; sessionId: string; expireMs: number; nowMs: number }

export async function insertRefreshToken(tx: Db, entityId: string, token: NewRefreshToken): Promise<void> {
  const { sha256, sessionId, expireMs, nowMs } = token
  await removeExpired(tx, 'refresh_tokens', entityId, nowMs)
  await tx.run(sql`insert into refresh_tokens (entity_id, sha256, session_id, expire_date, create_date)
    values (${entityId}, ${sha256}, ${sessionId}, ${formatInstant(expireMs)}, ${formatInstant(nowMs)})`)
  await tx.run(sql`update user_sessions set expire_date = greatest(expire_date, ${formatInstant(expireMs)})
    where entity_id = ${entityId} and id = ${sessionId}`)
}

type NewAnswer = { id: string; sealed: Buffer; expireMs: number; nowMs: number }

export async function insertAnswer(tx: Db, entityId: string, answer: NewAnswer): Promise<void> {
  await removeExpired(tx, 'sealed_answers', entityId, answer.nowMs)
  await tx.run(sql`insert into sealed_answers (entity_id, id, sealed, expire_date)
    values (${entityId}, ${answer.id}, ${answer.sealed}, ${formatInstant(answer.expireMs)})`)
}

/** An answer, unless it has expired. */
export const findAnswer = (db: Db, entityId: string, id: string, nowMs: number) =>
  db.maybe<{ sealed: Buffer }>(sql`select sealed from sealed_answers
    where entity_id = ${entityId} and id = ${id} and expire_date > ${formatInstant(nowMs)}`)
