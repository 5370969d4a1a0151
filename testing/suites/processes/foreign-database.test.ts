import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { sandboxEntity, sandboxKeyId, sandboxKeySecret } from '#sandbox/credentials'
import { cloneDatabase } from '#testing/databases/database'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { openLyingNode } from '#testing/nodes/lying-node'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { runProgram, spawnProgram, startProgram } from '#testing/processes/program'

const chains = ['--chains', 'BASE-SEPOLIA']
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function newDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bezant-foreign-'))
  undo.push(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

async function newDatabase(content: 'nothing' | 'tables' | 'seeded') {
  const { connection, drop } = await cloneDatabase(content === 'seeded' ? 'seeded' : 'empty')
  const owner = openAsOwner(connection)
  undo.push(async () => {
    await owner.close()
    await drop()
  })
  if (content === 'nothing') await owner.script('drop schema public cascade; create schema public')
  const env = { DATABASE_URL: urlOf(connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') }
  return { owner, env }
}

/** Number of writes to each table, and whether one was created or dropped. */
const traces = (owner: ReturnType<typeof openAsOwner>) =>
  owner.one(sql`select md5(string_agg(c.oid::text || ':' || c.relfilenode::text, ',' order by c.oid)) as tables,
    (select max(xmin::text::bigint) from schema_migrations) as migrated,
    (select count(*) from entities) as entities, (select count(*) from api_keys) as keys,
    (select count(*) from platform_seeds) as seeds, (select count(*) from blocks) as blocks
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public'`)

describe('property 68: a sandbox', () => {
  it('touches neither a database with foreign contents nor its own data directory', async () => {
    const { owner, env } = await newDatabase('seeded')
    const before = await traces(owner)
    const dataDir = await newDirectory()
    const { BEZANT_ROOT_KEY: _, ...withoutKey } = env
    const { code, stdout, stderr } = await runProgram({ dataDir, args: chains, env: withoutKey })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /DATABASE_URL names a database .* did not make: it holds .*public\.accounts.*empty database/,
    )
    expect(await traces(owner)).toEqual(before)
    expect(await readdir(dataDir)).toEqual([])
  })

  it('continues with the database that it initialized, from its own directory only', async () => {
    const { env } = await newDatabase('nothing')
    const { BEZANT_ROOT_KEY: _, ...own } = env
    const dataDir = await newDirectory()
    const first = await startProgram({ dataDir, args: chains, env: own })
    undo.push(() => first.killAll())
    first.signal('SIGTERM', 'process')
    await first.exited
    const other = await newDirectory()
    const refused = await runProgram({ dataDir: other, args: chains, env: own })
    expect([refused.code, await readdir(other)]).toEqual([1, []])
    const second = await startProgram({ dataDir, args: chains, env: own })
    undo.push(() => second.killAll())
    expect((await second.tenant.http('GET', '/v1/w3s/walletSets')).status).toBe(200)
    // Commands find its chains by its directory, and by no other one.
    const reconcile = (dataDir: string) => runCommand({ dataDir, command: 'reconcile', env: own })
    expect(await reconcile(dataDir)).toMatchObject({ code: 0, stdout: expect.stringContaining('zero gaps') })
    expect((await reconcile(other)).code).not.toBe(0)
  })
})

it('property 68: a version older than the tables changes nothing and names the migration', async () => {
  const { owner, env } = await newDatabase('seeded')
  await owner.run(sql`insert into schema_migrations (name, sha256) values ('9999_of_tomorrow.sql', 'x')`)
  const dataDir = await newDirectory()
  const commands = [['migrate'], ['keys', 'list'], ['worker'], ['serve', '--port', '0']] as const
  for (const [command, ...args] of commands) {
    const { code, stderr } = await runCommand({ dataDir, command, args, env })
    expect([command, code]).toEqual([command, 1])
    expect(stderr).toMatch(/9999_of_tomorrow\.sql, which this version does not know/)
  }
})

it('property 68: tables of before the first release are told from those of a newer version, and stay unchanged', async () => {
  const { owner, env } = await newDatabase('seeded')
  // As it was then: other files under numbers that are taken today.
  await owner.run(
    sql`insert into schema_migrations (name, sha256) values ('0003_ledger.sql', 'x'), ('0157_user_names.sql', 'x')`,
  )
  const before = await relationsOf(owner)
  const dataDir = await newDirectory()
  for (const [command, ...args] of [['migrate'], ['keys', 'list'], ['worker'], ['serve', '--port', '0']]) {
    const { code, stderr } = await runCommand({ dataDir, command: command!, args, env })
    expect([command, code]).toEqual([command, 1])
    expect(stderr).toMatch(
      /before the first release, such as 0003_ledger\.sql.* an empty database .* data directory/,
    )
    expect(stderr).not.toContain('newer version')
  }
  expect(await relationsOf(owner)).toEqual(before)
})

/** Every relation of a database and its kind. */
const relationsOf = (owner: ReturnType<typeof openAsOwner>) =>
  owner.all(sql`select n.nspname || '.' || c.relname as name, c.relkind as kind
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1`)

describe('property 68: a database without the tables of this version', () => {
  it('is refused by every command while it contains tables of another program', async () => {
    const { owner, env } = await newDatabase('nothing')
    // Other programs name a table like ours, and do not stay in the schema "public".
    await owner.script(`create schema shop; create table shop.customers (id int);
      create table schema_migrations (version text)`)
    const before = await relationsOf(owner)
    const dataDir = await newDirectory()
    for (const [command, ...args] of [['migrate'], ['keys', 'list'], ['worker'], ['serve', '--port', '0']]) {
      const { code, stdout, stderr } = await runCommand({ dataDir, command: command!, args, env })
      expect([command, code, stdout]).toEqual([command, 1, ''])
      expect(stderr).toMatch(
        /^bezant: the database \S+ is of another program: it holds public\.schema_migrations, shop\.customers, .*Name an empty database in DATABASE_URL$/m,
      )
    }
    expect(await relationsOf(owner)).toEqual(before)
    expect(await readdir(dataDir)).toEqual([])
  })

  it('is reported with the remedy by commands that do not migrate, and stays unchanged', async () => {
    const { owner, env } = await newDatabase('nothing')
    const dataDir = await newDirectory()
    const commands = [['keys', 'list'], ['reconcile'], ['journal', 'list'], ['policy', 'show']]
    for (const [command, ...args] of commands) {
      const { code, stdout, stderr } = await runCommand({ dataDir, command: command!, args, env })
      expect([command, code, stdout]).toEqual([command, 1, ''])
      expect(stderr).toMatch(
        /^bezant: the database lacks the tables of this version \((\d+) of \1 .*\): run "bezant migrate"\n$/,
      )
    }
    expect(await relationsOf(owner)).toEqual([])
    const older = await newDatabase('seeded')
    await older.owner.run(
      sql`delete from schema_migrations where name = (select max(name) from schema_migrations)`,
    )
    const { code, stderr } = await runCommand({ dataDir, command: 'keys', args: ['list'], env: older.env })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\(1 of \d+ .*: run "bezant migrate"/)])
  })

  it('is initialized when only extensions have tables', async () => {
    const { owner, env } = await newDatabase('nothing')
    await owner.script('create extension pg_stat_statements')
    const dataDir = await newDirectory()
    const { code, stdout } = await runCommand({ dataDir, command: 'migrate', env })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^applied 0001_/)])
  })
})

describe('property 68: a node that does not belong to its network', () => {
  let local: Awaited<ReturnType<typeof startTestChains>>
  let chain: TestChain
  beforeAll(async () => {
    local = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
    chain = local.chains[0]!
  })
  afterAll(() => local?.stop())

  async function withoutUsdc() {
    const node = await openLyingNode(chain.rpcUrl)
    undo.push(() => node.close())
    const usdc = chain.tokens.USDC.toLowerCase()
    node.lie((method, result, [address]) =>
      method === 'eth_getCode' && String(address).toLowerCase() === usdc ? '0x' : result,
    )
    return node.url
  }

  it('is refused by name while others serve, as is the published sandbox key', async () => {
    const { env } = await newDatabase('seeded')
    const bad = await withoutUsdc()
    const networks = [
      { blockchain: 'BASE-SEPOLIA', rpcUrls: [bad, chain.rpcUrl] },
      { blockchain: 'ETH-SEPOLIA', rpcUrl: chain.rpcUrl },
      { blockchain: 'OP-SEPOLIA', rpcUrl: 'http://127.0.0.1:1' },
    ]
    const dataDir = await newDirectory()
    const key = await runCommand({
      dataDir,
      command: 'keys',
      args: ['create-entity', '--name', randomUUID(), '--json'],
      env,
    })
    const serve = await spawnProgram({
      dataDir,
      command: 'serve',
      args: ['--port', '0'],
      env: {
        ...env,
        BEZANT_NETWORKS: JSON.stringify(networks),
        BEZANT_NOTIFICATION_TARGETS: 'loopback',
      },
    })
    undo.push(async () => {
      serve.child.kill('SIGKILL')
      await serve.exited
    })
    const lines = () =>
      serve
        .stderr()
        .split('\n')
        // The last one may not have arrived as a whole.
        .slice(0, -1)
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    await until(async () => lines().some(({ msg }) => msg === 'ready'), `it serves: ${serve.stderr()}`)
    const ready = lines().find(({ msg }) => msg === 'ready')!
    const states = (await httpAs(String(ready['url']), undefined)('GET', '/ready')).body.chains
    expect(states).toContainEqual({ blockchain: 'ETH-SEPOLIA', state: 'unreachable' })
    const alarms = lines().filter(({ alarm }) => alarm !== undefined)
    expect(lines()).toContainEqual(expect.objectContaining({ level: 40, notificationTargets: 'loopback' }))
    const refused = alarms.filter(({ alarm }) => alarm === 'endpoint-refused')
    expect(refused.sort((a, b) => String(a['blockchain']).localeCompare(String(b['blockchain'])))).toEqual([
      expect.objectContaining({
        blockchain: 'BASE-SEPOLIA',
        endpoint: new URL(bad).host,
        token: 'USDC',
        address: chain.tokens.USDC,
      }),
      expect.objectContaining({ blockchain: 'ETH-SEPOLIA', msg: expect.stringContaining('chain 84532') }),
    ])
    expect(alarms).toContainEqual(
      expect.objectContaining({ alarm: 'sandbox-credentials', entityId: sandboxEntity.id }),
    )
    const ask = (apiKey: string) => httpAs(String(ready['url']), apiKey)('GET', '/v1/w3s/walletSets')
    const own = (JSON.parse(key.stdout) as { apiKey: string }).apiKey
    expect((await ask(own)).status).toBe(200)
    const [known, unknown] = [
      await ask(`TEST_API_KEY:${sandboxKeyId}:${sandboxKeySecret}`),
      await ask(own.replace(/.$/, 'x')),
    ]
    expect([known.status, known.text]).toEqual([401, unknown.text])
  })

  it('prevents the start when there is no other', async () => {
    const { env } = await newDatabase('seeded')
    const BEZANT_NETWORKS = JSON.stringify([{ blockchain: 'BASE-SEPOLIA', rpcUrl: await withoutUsdc() }])
    const { code, stderr } = await runProgram({
      dataDir: await newDirectory(),
      command: 'worker',
      env: { ...env, BEZANT_NETWORKS },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('"alarm":"endpoint-refused"')
    expect(stderr).toMatch(/no endpoint of BEZANT_NETWORKS .* no contract where USDC of BASE-SEPOLIA is/)
  })

  it('leaves out one row of reconcile, which names it, and none of the others', async () => {
    const harness = await openHarness()
    undo.push(() => harness.close())
    await harness.chain().mine(1)
    const final = async () =>
      (await harness.database.all(sql`select 1 from block_steps where final_to >= 0`)).length > 0
    await until(final, 'a block is final')
    const node = await openLyingNode(harness.chain().rpcUrl)
    undo.push(() => node.close())
    const usdc = harness.chain().tokens.USDC.toLowerCase()
    const lacks = (address: unknown) => String(address).toLowerCase() === usdc
    node.lie((method, result, [asked]) =>
      (method === 'eth_getCode' && lacks(asked)) || (method === 'eth_call' && lacks(asked?.to))
        ? '0x'
        : result,
    )
    const { code, stdout } = await runCommand({
      dataDir: await newDirectory(),
      command: 'reconcile',
      args: ['--json'],
      env: {
        DATABASE_URL: urlOf(harness.connection),
        BEZANT_ROOT_KEY: testRootKey.toString('hex'),
        BEZANT_NETWORKS: JSON.stringify([
          { blockchain: 'ETH-SEPOLIA', rpcUrl: 'http://127.0.0.1:1' },
          { blockchain: 'BASE-SEPOLIA', rpcUrl: node.url },
        ]),
      },
    })
    const found = JSON.parse(stdout)
    expect([code, found.gaps]).toEqual([1, 0])
    expect(found.reasons).toEqual([
      expect.objectContaining({ blockchain: 'ETH-SEPOLIA' }),
      expect.objectContaining({ blockchain: 'BASE-SEPOLIA', symbol: 'USDC', address: usdc }),
    ])
    expect(
      found.chains.find(({ blockchain }: { blockchain: string }) => blockchain === 'BASE-SEPOLIA').tokens,
    ).toEqual(expect.arrayContaining([expect.objectContaining({ symbol: 'EURC' })]))
  })
})
