import { type Db, sql } from '#runtime/db/db'

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
    array(select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
        and not exists (select 1 from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      order by 1 limit 5) as relations`)
