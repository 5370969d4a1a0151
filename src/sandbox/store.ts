import { type Db, sql } from '#runtime/db/db'
import { someRelations } from '#runtime/db/relations'

export type Contents = {
  /** The server and the database on it: a copy that was restored elsewhere is another one. */
  identity: string
  /** Some of the tables, views and sequences in it that belong to no extension. */
  relations: string[]
}

/** The contents of a database, in short. */
export const readContents = (db: Db) =>
  db.one<Contents>(sql`select
    (select system_identifier from pg_control_system()) || '/'
      || (select oid from pg_database where datname = current_database()) as identity,
    ${someRelations} as relations`)
