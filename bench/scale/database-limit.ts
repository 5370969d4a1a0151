import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Connection, Sql } from '#runtime/db/db'
import { systemPostgres } from '#testing/databases/system-postgres'
import type { Run } from '../run.ts'

const clients = 8

/** Executions per second of a statement by `pgbench` alone; undefined on a machine without it. */
export async function databaseLimit(
  run: Run,
  connection: Connection,
  statement: Sql,
): Promise<number | undefined> {
  const folder = systemPostgres()
  if (!folder || 'url' in connection) return undefined
  const file = join(await run.directory(), 'statement.sql')
  await writeFile(file, `${withLiterals(statement)};\n`)
  const { host, port, user, database } = connection
  const place = ['-h', host, '-p', String(port), '-U', user, database]
  const seconds = run.amount(10, 5, 1)
  const load = ['-n', '-M', 'prepared', '-f', file, '-c', String(clients), '-j', '2', '-T', String(seconds)]
  const { stdout } = await promisify(execFile)(join(folder, 'pgbench'), [...load, ...place])
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1])
  run.report(`pgbench: ${perSecond.toFixed(0)} statements per second with ${clients} clients`)
  return perSecond
}

/** The statement with its values in it: `pgbench` has no parameters. */
const withLiterals = ({ text, values }: Sql): string =>
  text
    .map((part, index) => (index === 0 ? part : literalOf(values[index - 1]) + part))
    .join('')
    .replaceAll('\n', ' ')

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  if (Array.isArray(value)) return quoted(`{${value.map(String).join(',')}}`)
  return quoted(String(value))
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
