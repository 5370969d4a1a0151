import type { Connection } from '#runtime/db/db'
import type { TestConnection } from './test-databases.ts'

export type Clone = { name: string; connection: Connection; drop(): Promise<void> }

/** A copy of a template, or of a database that was made before and that nobody is connected to. */
export async function cloneOf(server: string, template: string): Promise<Clone> {
  const response = await fetch(`${server}/databases/${template}`, { method: 'POST' })
  if (!response.ok) throw new Error(`no test database: ${await response.text()}`)
  const { name, connection } = (await response.json()) as TestConnection
  const drop = async () => void (await fetch(`${server}/databases/${name}`, { method: 'DELETE' }))
  return { name, connection, drop }
}
