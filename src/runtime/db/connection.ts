/**
 * Where a database is. With `directUrl`, `url` leads to a pooler in transaction mode, which keeps nothing of a session, and
 * `directUrl` to the server itself.
 */
export type Connection =
  | { url: string; directUrl?: string | undefined }
  | { host: string; port: number; user: string; database: string; password?: string }

/** Whether statements pass a pooler in transaction mode. */
export const isPooled = (connection: Connection): boolean =>
  'url' in connection && connection.directUrl !== undefined

/** The connection to the server itself, for sessions that last: LISTEN, migrations. */
export const directly = (connection: Connection): Connection =>
  'url' in connection ? { url: connection.directUrl ?? connection.url } : connection
