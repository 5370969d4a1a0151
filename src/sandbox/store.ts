import { type Db, sql } from '#runtime/db/db'
import { someRelations } from '#runtime/db/relations'

export type Contents = {
  /** The server and the database on it: a copy restored elsewhere has another identity. */
  identity: string
  /** Up to five of its tables, views and sequences that belong to no extension. */
  relations: string[]
}

/** Reads a summary of a database's contents. */
export const readContents = (db: Db) =>
  db.one<Contents>(sql`select
    (select system_identifier from pg_control_system()) || '/'
      || (select oid from pg_database where datname = current_database()) as identity,
    ${someRelations} as relations`)
