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
