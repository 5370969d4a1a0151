import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { afterAll } from 'vitest'
import { collectStatements, type SentStatement } from '#testing/databases/statements'

/**
 * With COLLECT_STATEMENTS=DIRECTORY each test file leaves the statements that the program sent in it: a run of the whole suite
 * collects those of every engine and fault.
 */
const directory = process.env['COLLECT_STATEMENTS']
if (directory !== undefined) {
  const { sent, stop } = collectStatements()
  afterAll(() => {
    stop()
    writeFileSync(join(directory, `${randomUUID()}.statements`), serialize([...sent.values()]))
  })
}

/** The statements that earlier runs left in a directory. */
export const statementsIn = (from: string): SentStatement[] =>
  readdirSync(from)
    .filter((name) => name.endsWith('.statements'))
    .flatMap((name) => deserialize(readFileSync(join(from, name))) as SentStatement[])
