/**
 * The rows of a database as texts, for snapshots that move to another server: PostgreSQL's own copies of a database stay on theirs, and
 * its `pg_dump` is not part of the embedded server. Both sides have the same tables, because they are of the same version.
 */
import { createReadStream } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Connection, type Db, openAsOwner, raw, sql } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'
import { makeDirectory } from '#runtime/make-directory'

const rowsAtOnce = 500
const sequencesName = 'sequences'

const named = (name: string) => raw(`"${name.replaceAll('"', '""')}"`)

const tablesOf = async (db: Db): Promise<string[]> =>
  (
    await db.all<{ name: string }>(sql`select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`)
  ).map(({ name }) => name)

/** Writes a file of each table, with a JSON text of each row, and one of the sequences. */
export async function writeRows(connection: Connection, directory: string): Promise<void> {
  await makeDirectory(directory)
  const database = openAsOwner(connection)
  try {
    await database.tx(async (tx) => {
      for (const table of await tablesOf(tx)) await writeTable(tx, table, join(directory, `${table}.jsonl`))
      const sequences = await tx.all<{ name: string; value: number }>(
        sql`select sequencename as name, last_value as value from pg_sequences where last_value is not null`,
      )
      await writeLines(join(directory, `${sequencesName}.jsonl`), [
        sequences.map((row) => JSON.stringify(row)),
      ])
    })
  } finally {
    await database.close()
  }
}

async function writeTable(tx: Db, table: string, path: string): Promise<void> {
  await tx.run(sql`declare saved_rows cursor for select t::text as row from ${named(table)} t`)
  async function* lines() {
    for (;;) {
      const rows = await tx.all<{ row: string }>(sql`fetch ${raw(String(rowsAtOnce))} from saved_rows`)
      if (rows.length === 0) return
      yield rows.map(({ row }) => JSON.stringify(row))
    }
  }
  await writeLines(path, lines())
  await tx.run(sql`close saved_rows`)
}

async function writeLines(path: string, parts: Iterable<string[]> | AsyncIterable<string[]>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const lines of parts) if (lines.length > 0) await file.write(`${lines.join('\n')}\n`)
  } finally {
    await file.close()
  }
}

/** Brings an empty database to the tables of this version, and fills them with written rows. */
export async function readRows(connection: Connection, directory: string): Promise<void> {
  await migrate(connection)
  const database = openAsOwner(connection)
  try {
    await database.tx(async (tx) => {
      // Rows come in any order and were checked when they were written: neither triggers nor references apply.
      await tx.script('set local session_replication_role = replica')
      const tables = await tablesOf(tx)
      for (const table of tables) await tx.run(sql`delete from ${named(table)}`)
      for (const name of await readdir(directory)) {
        const table = basename(name, '.jsonl')
        if (table === sequencesName) await readSequences(tx, join(directory, name))
        else if (tables.includes(table)) await readTable(tx, table, join(directory, name))
        else throw new Error(`there is no table ${table}`)
      }
    })
  } finally {
    await database.close()
  }
}

async function readTable(tx: Db, table: string, path: string): Promise<void> {
  const columns = await tx.all<{ name: string }>(sql`select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`)
  const listed = (prefix: string) => raw(columns.map(({ name }) => `${prefix}"${name}"`).join(', '))
  for await (const rows of linesOf(path)) {
    await tx.run(sql`insert into ${named(table)} (${listed('')}) overriding system value
      select ${listed('read.')} from unnest(${rows}::text[]) as saved(line),
        lateral (select (saved.line::${named(table)}).*) as read`)
  }
}

async function readSequences(tx: Db, path: string): Promise<void> {
  for await (const lines of linesOf<{ name: string; value: number }>(path))
    for (const { name, value } of lines) await tx.all(sql`select setval(${name}::regclass, ${value})`)
}

async function* linesOf<Line = string>(path: string): AsyncGenerator<Line[]> {
  let lines: Line[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line !== '') lines.push(JSON.parse(line) as Line)
    if (lines.length === rowsAtOnce) {
      yield lines
      lines = []
    }
  }
  if (lines.length > 0) yield lines
}
