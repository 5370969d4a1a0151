import { type Db, sql } from '#runtime/db/db'

/** The state of a database server on which a production installation depends, as the user of `DATABASE_URL` sees it. */
export type ServerFacts = {
  user: string
  /** Settings by name. */
  settings: { [name in (typeof settingNames)[number]]?: string }
  /** Whether this user, or a role that it may become, has these rights. */
  isSuperuser: boolean
  createsRoles: boolean
  createsDatabases: boolean
  replicates: boolean
  bypassesRows: boolean
  writesAll: boolean
  owns: boolean
  /** Whether something receives the write-ahead log and keeps its place in it. */
  hasSlot: boolean
  /** Whether the last attempt to archive failed. */
  archivesInVain: boolean
}

const settingNames = [
  'archive_command',
  'archive_library',
  'archive_mode',
  'autovacuum',
  'data_checksums',
  'password_encryption',
  'track_counts',
  'wal_level',
] as const

const writingRoles = ['pg_write_all_data', 'pg_write_server_files', 'pg_execute_server_program']

export const readServerFacts = (db: Db): Promise<ServerFacts> =>
  db.one<ServerFacts>(sql`with mine as (select * from pg_roles where pg_has_role(session_user, oid, 'MEMBER'))
    select session_user::text as "user",
      (select jsonb_object_agg(name, setting) from pg_settings where name = any(${settingNames}::text[])) as settings,
      bool_or(rolsuper) as is_superuser, bool_or(rolcreaterole) as creates_roles, bool_or(rolcreatedb) as creates_databases,
      bool_or(rolreplication) as replicates, bool_or(rolbypassrls) as bypasses_rows,
      bool_or(rolname = any(${writingRoles}::text[])) as writes_all,
      exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace join mine m on m.oid = c.relowner
        where n.nspname !~ '^pg_|^information_schema$' and c.relkind in ('r', 'p'))
        or exists (select from pg_database d join mine m on m.oid = d.datdba where d.datname = current_database()) as owns,
      exists (select from pg_replication_slots where slot_type = 'physical') as has_slot,
      (select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) from pg_stat_archiver) as archives_in_vain
    from mine`)
