import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { removeExpired } from './expired.ts'
import type { User } from './users.ts'

type NewUserToken = {
  id: string
  userId: string
  sealedEncryptionKey: Buffer
  /** The session that a login began; absent for a token that the app asked for. */
  sessionId: string | undefined
  expireMs: number
  nowMs: number
}

export async function insertUserToken(tx: Db, entityId: string, token: NewUserToken): Promise<void> {
  const { id, userId, sealedEncryptionKey } = token
  const [now, expireDate] = [token.nowMs, token.expireMs].map(formatInstant)
  await removeExpired(tx, 'user_tokens', entityId, token.nowMs)
  await tx.run(sql`insert into user_tokens (entity_id, id, user_id, sealed_encryption_key, session_id, expire_date,
      create_date)
    values (${entityId}, ${id}, ${userId}, ${sealedEncryptionKey}, ${token.sessionId ?? null}, ${expireDate}, ${now})`)
}

/** Removes all tokens of a user. */
export const removeTokensOf = (tx: Db, entityId: string, userId: string) =>
  tx.run(sql`delete from user_tokens where entity_id = ${entityId} and user_id = ${userId}`)

type HeldToken = Pick<User, 'id' | 'userId' | 'status'> & { isEnded: boolean; deviceId: string | null }

/** The user of a token. */
export const findTokenUser = (db: Db, entityId: string, tokenId: string) =>
  db.maybe<HeldToken>(sql`select u.id, u.user_id, u.status, s.ended_date is not null as is_ended, s.device_id
    from user_tokens t
    join users u on u.entity_id = t.entity_id and u.user_id = t.user_id
    left join user_sessions s on s.entity_id = t.entity_id and s.id = t.session_id
    where t.entity_id = ${entityId} and t.id = ${tokenId}`)

/** The sealed encryption key of a token that still exists. */
export const findTokenKey = (db: Db, entityId: string, tokenId: string) =>
  db.maybe<{ sealedEncryptionKey: Buffer }>(sql`select sealed_encryption_key
    from user_tokens where entity_id = ${entityId} and id = ${tokenId}`)
