import { formatInstant } from '#lib/time'
import { type Db, raw, sql } from '#runtime/db/db'

/** Tables whose rows count until their `expire_date`, each with the column that names a row of an entity. */
const columns = {
  user_tokens: 'id',
  refresh_tokens: 'sha256',
  device_tokens: 'device_id',
  login_codes: 'id',
  used_id_tokens: 'sha256',
  sealed_answers: 'id',
  login_limits: 'email',
} as const

/** Number of expired rows that each new one removes: the table shrinks faster than it grows. */
const removedEach = 10

/** Removes expired rows before a new one is inserted. */
export const removeExpired = (tx: Db, table: keyof typeof columns, entityId: string, nowMs: number) => {
  const [from, key] = [raw(table), raw(columns[table])]
  return tx.run(sql`with expired as materialized (
      select ${key} from ${from} where entity_id = ${entityId} and expire_date <= ${formatInstant(nowMs)}
      order by expire_date limit ${removedEach} for update skip locked)
    delete from ${from} where entity_id = ${entityId} and ${key} in (select ${key} from expired)`)
}

/** Removes expired sessions without tokens before a new one is inserted. */
export const removeExpiredSessions = (tx: Db, entityId: string, nowMs: number) =>
  tx.run(sql`with expired as materialized (
      select s.id from user_sessions s where s.entity_id = ${entityId} and s.expire_date <= ${formatInstant(nowMs)}
        and not exists (select 1 from refresh_tokens r where r.entity_id = s.entity_id and r.session_id = s.id)
        and not exists (select 1 from user_tokens t where t.entity_id = s.entity_id and t.session_id = s.id)
      order by s.expire_date limit ${removedEach} for update skip locked)
    delete from user_sessions where entity_id = ${entityId} and id in (select id from expired)`)
