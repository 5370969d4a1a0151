import type { Connection } from '#runtime/db/db'
import type { TestConnection } from './test-databases.ts'

export type Clone = { name: string; connection: Connection; drop(): Promise<void> }

/** The `DATABASE_URL` of a program that uses this database. */
export const urlOf = (connection: Connection): string =>
  'url' in connection
    ? connection.url
    : `postgresql:///${connection.database}?${new URLSearchParams({ host: connection.host, port: String(connection.port), user: connection.user })}`

/** A copy of a template, or of an existing database without open connections. */
export async function cloneOf(server: string, template: string): Promise<Clone> {
  const response = await fetch(`${server}/databases/${template}`, { method: 'POST' })
  if (!response.ok) throw new Error(`no test database: ${await response.text()}`)
  const { name, connection } = (await response.json()) as TestConnection
  const drop = async () => void (await fetch(`${server}/databases/${name}`, { method: 'DELETE' }))
  return { name, connection, drop }
}
