import { type Db, sql } from '#runtime/db/db'

/** Settings of a PostgreSQL server that money depends on. */
export type ServerSettings = {
  version: string
  versionNumber: number
  encoding: string
  fsync: boolean
  fullPageWrites: boolean
  synchronousCommit: string
  connectionsMax: number
}

export const readServer = (db: Db): Promise<ServerSettings> =>
  db.one<ServerSettings>(sql`select current_setting('server_version') as version,
    current_setting('server_version_num')::int as version_number, current_setting('server_encoding') as encoding,
    current_setting('fsync')::boolean as fsync, current_setting('full_page_writes')::boolean as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('max_connections')::int as connections_max`)
