/**
 * Verifies that sessions have the settings that statements rely on: the role, whose rights are limited, the time zone, by which
 * instants are read, and limits of time. A direct session asks for them; a pooler may drop what is asked, and one in transaction
 * mode must: there the user has them.
 */
import { type Connection, directly, isPooled } from './connection.ts'
import { openDatabase, sql } from './db.ts'
import { optionsKept, workLimits } from './limits.ts'

/** The settings of the user in the database behind a pooler, in milliseconds where they are times. */
const ofUser = {
  role: 'bezant_runtime',
  timezone: 'UTC',
  jit: 'off',
  idle_in_transaction_session_timeout: workLimits.idleMs,
  lock_timeout: workLimits.lockMs,
  statement_timeout: workLimits.statementMs,
} as const

/** Throws unless sessions have their settings, and both addresses of a pooled connection are of one database. */
export async function requireSessionSettings(connection: Connection): Promise<void> {
  if (!('url' in connection)) return
  const session = await readSession(connection)
  if (!isPooled(connection)) {
    if (session.isAsAsked) return
    throw new Error(
      'a pooler between here and the database drops the settings of sessions: set BEZANT_DIRECT_DATABASE_URL to the address of the database itself, as docs/operate.md says of PgBouncer',
    )
  }
  const { user, place } = await readSession(directly(connection))
  if (user !== session.user || place !== session.place)
    throw new Error(
      'BEZANT_DIRECT_DATABASE_URL must lead to the same database, with the same user, as DATABASE_URL: correct it, or unset it for a command that connects to the database itself, such as "bezant migrate" of its owner',
    )
  const missing = Object.entries(ofUser).filter(([name, value]) => session.settings[name] !== String(value))
  if (missing.length > 0)
    throw new Error(
      `sessions of ${session.user} behind the pooler lack settings: as an administrator of the server, run "${missing
        .map(([name, value]) => `alter role "${session.user}" set ${name} = '${value}'`)
        .join('; ')}", and "RECONNECT" in the console of the pooler`,
    )
}

/** `isAsAsked`: whether it has the parameters that were asked for, which no pooler in transaction mode lets through. */
type FoundSession = { user: string; place: string; isAsAsked: boolean; settings: Record<string, string> }

async function readSession(connection: Connection): Promise<FoundSession> {
  const database = openDatabase(connection, 2)
  try {
    return await database.one<FoundSession>(sql`select session_user::text as "user",
      coalesce(current_setting(${optionsKept}, true), '') = 'yes' as is_as_asked,
      (select system_identifier from pg_control_system()) || '/' || current_database() as place,
      (select jsonb_object_agg(lower(name), case when unit = 'ms' then setting else current_setting(name) end)
        from pg_settings where lower(name) = any(${Object.keys(ofUser)}::text[])) || jsonb_build_object('role', current_user) as settings`)
  } finally {
    await database.close()
  }
}
