import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openAsOwner } from '#runtime/db/db'
import { cloneDatabase } from '#testing/databases/database'
import { itOnOneServer } from '#testing/databases/one-server'
import { testMigration } from '#testing/databases/test-migration'
import { movesData } from '../../../scripts/tidy/moves-data.ts'

const casesFolder = 'testing/migrations'
const cases = existsSync(casesFolder) ? readdirSync(casesFolder) : []

async function emptyDatabase() {
  const { connection, drop } = await cloneDatabase('empty')
  onTestFinished(drop)
  const owner = openAsOwner(connection)
  await owner.script('drop schema public cascade; create schema public')
  await owner.close()
  return connection
}

async function writeFiles(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bezant-migration-case-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

itOnOneServer.each(cases)('%s moves the rows as its test says', async (name) => {
  const of = { migrations: 'migrations', name: `${name}.sql`, folder: join(casesFolder, name) }
  expect(await testMigration(await emptyDatabase(), of)).toEqual([])
})

const migrations = {
  'migrations/0001_coins.sql': 'create table coins (id integer primary key, amount numeric not null);',
  'migrations/0002_cents.sql': 'update coins set amount = amount * 100;',
  'migrations/0003_later.sql': 'drop table coins;',
  'before.sql': '-- Of a client.\ninsert into coins values (1, 2.5);\ninsert into coins values (2, 7);\n',
}
const cents = async (after: string) => {
  const folder = await writeFiles({ ...migrations, 'after.sql': after })
  return { migrations: join(folder, 'migrations'), name: '0002_cents.sql', folder }
}

itOnOneServer('the runner applies a migration between its two files, and no later one', async () => {
  const right = await cents(
    '-- Both.\nselect amount = 250 from coins where id = 1;\nselect count(*) = 2 from coins;\n',
  )
  expect(await testMigration(await emptyDatabase(), right)).toEqual([])
})

itOnOneServer('the runner names each query that is not true of every row, or has none', async () => {
  const wrong = await cents(
    'select amount = 250 from coins;\nselect true;\nselect true from coins where id = 3;\nselect null from coins;\n',
  )
  expect(await testMigration(await emptyDatabase(), wrong)).toEqual([
    'select amount = 250 from coins',
    'select true from coins where id = 3',
    'select null from coins',
  ])
})

it.each([
  ['update coins set amount = 1;', true],
  ['insert into coins values (1);', true],
  ['with old as (select 1) delete from coins using old;', true],
  ["do $$ begin\n  execute 'update coins set amount = 1';\nend $$;", true],
  ['do $$ begin\n  update coins c\n    set amount = 1;\nend $$;', true],
  ['create table coins (id integer);\nrevoke update, delete on coins from bezant_runtime;', false],
  [
    'create trigger kept before update or delete on coins for each row execute function refuse_change();',
    false,
  ],
  [
    'create function f() returns trigger language plpgsql as $$ begin delete from coins; return null; end $$;',
    false,
  ],
  ['-- Later versions update coins set by hand.\nalter table coins add column b integer;', false],
  ["insert into notified_kinds (kind, line, view) values ('coin', 'v1', 'notified_coins');", false],
])('a migration has to have a test if it moves data: %s', (text, moves) => {
  expect(movesData(text)).toBe(moves)
})
