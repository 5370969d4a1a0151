/** A worker reports its health on a separate port, and counts alarms of its surroundings there. */
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import type { AlarmName } from '#runtime/log/alarms'
import { insertFalsePosting } from '#testing/builders/ledger-checks'
import { transferActions } from '#testing/builders/transfers'
import type { Wallet } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { type Harness, openHarness } from '#testing/platform/harness'
import { readMetrics } from '#testing/platform/metrics'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runProgram, spawnProgram } from '#testing/processes/program'

const blockchain = 'AVAX-FUJI'
/** The machine of the worker is an hour slow. */
const slowClock = `--import=data:text/javascript,${encodeURIComponent('const now = Date.now; Date.now = () => now() - 3_600_000')}`

let harness: Harness
let owner: Database
let operator: Tenant
let on: ReturnType<typeof transferActions>
let wallet: Wallet
let node: LyingNode
let dataDir: string
let env: Record<string, string>
let worker: Awaited<ReturnType<typeof spawnProgram>>
let url: string

beforeAll(async () => {
  harness = await openHarness({ engines: false, blockchains: [blockchain, 'ETH-SEPOLIA'] })
  owner = openAsOwner(harness.connection)
  // Outside of a sandbox the keys of the sandbox entity are not accepted.
  operator = await harness.newEntity()
  on = transferActions(harness)
  node = await openLyingNode(harness.chain().rpcUrl)
  dataDir = await mkdtemp(join(tmpdir(), 'bezant-worker-'))
  env = {
    DATABASE_URL: urlOf(harness.connection),
    BEZANT_ROOT_KEY: testRootKey.toString('hex'),
    BEZANT_NETWORKS: JSON.stringify([{ blockchain, rpcUrl: node.url }]),
  }
  worker = await spawnProgram({
    dataDir,
    command: 'worker',
    args: ['--port', '0'],
    env: { ...env, NODE_OPTIONS: slowClock },
  })
  const ready = () => /^\{.*"url":"([^"]+)".*"msg":"ready"\}$/m.exec(worker.stderr())
  await until(() => ready() !== null || worker.child.exitCode !== null, 'the worker is ready')
  url = ready()?.[1] ?? `none: ${worker.stderr()}`
  wallet = await on.fundedWallet()
})
afterAll(async () => {
  worker?.child.kill('SIGTERM')
  await worker?.exited
  await node?.close()
  await owner?.close()
  await harness?.close()
  await rm(dataDir, { recursive: true, force: true })
})

const sample = async (name: string) => (await readMetrics({ url, apiKey: operator.apiKey })).get(name)
const alarmsOf = async (name: AlarmName) => (await sample(`bezant_alarms_total{alarm="${name}"}`))!
const isRaised = (name: AlarmName) => until(async () => (await alarmsOf(name)) > 0, `${name} in /metrics`)

it('property 60: a worker answers probes and metrics on its own port, under the rules of the API, and nothing else', async () => {
  const [stranger, known] = [httpAs(url, undefined), httpAs(url, operator.apiKey)]
  expect((await stranger('GET', '/ping')).status).toBe(200)
  const following = { engines: 'running', chains: [{ blockchain, state: 'following' }] }
  const isFollowing = async () => {
    const { status, body } = await stranger('GET', '/ready')
    // Only its clock keeps it from being ready.
    expect([status, body.ready, body.clock]).toEqual([503, false, 'off'])
    return isDeepStrictEqual({ engines: body.engines, chains: body.chains }, following)
  }
  await until(isFollowing, 'the chain is followed')
  expect((await stranger('GET', '/metrics')).status).toBe(401)
  for (const path of ['/v1/w3s/wallets', '/operator/chains', '/console', '/docs', '/openapi.json'])
    expect([path, (await known('GET', path)).status]).toEqual([path, 404])
  const endpoint = `{blockchain="${blockchain}",host="${new URL(node.url).host}",position="0"}`
  expect(await sample(`bezant_endpoint_latency_seconds${endpoint}`)).toBeGreaterThan(0)
  expect(await sample(`bezant_endpoint_errors_ratio${endpoint}`)).toBeDefined()
})

it('property 60: a worker counts the alarms that it raises: a wrong clock, a single endpoint', async () => {
  await isRaised('clock-off')
  await isRaised('one-endpoint')
  expect(await alarmsOf('books-differ')).toBe(0)
})

it('property 60: a gap between books and chain raises an alarm at the next block, and ends it', async () => {
  const place = { ...wallet, entityId: harness.entityId, tokenId: on.world.usdcId }
  const open = `bezant_reconcile_gaps_open{blockchain="${blockchain}"}`
  await insertFalsePosting(owner, place, 1n)
  await harness.chain().mine()
  await isRaised('books-differ')
  expect(await sample(open)).toBe(1)
  await insertFalsePosting(owner, place, -1n)
  await harness.chain().mine()
  await until(() => worker.stderr().includes('"alarmOver":"books-differ"'), 'the alarm is over')
  await until(async () => (await sample(open)) === 0, 'no gap is open')
})

it('property 155: a process says that a newer version migrated its database, and when that is over', async () => {
  const name = '9999_of_a_newer_version.sql'
  await owner.run(sql`insert into schema_migrations (name, sha256) values (${name}, 'unknown here')`)
  await isRaised('schema-newer')
  expect(worker.stderr()).toContain(name)
  await owner.run(sql`delete from schema_migrations where name = ${name}`)
  await until(() => worker.stderr().includes('"alarmOver":"schema-newer"'), 'the alarm is over')
})

it('property 68: an endpoint that returns as another or an empty chain is unused until it is right', async () => {
  const own = harness.chain().rpcUrl
  const usdc = harness.chain().tokens.USDC
  const becomes = async (wanted: string) =>
    until(async () => {
      const { body } = await httpAs(url, undefined)('GET', '/ready')
      return body.chains[0]?.state === wanted
    }, `the chain is ${wanted}`)
  const otherChain = () => node.forwardTo(harness.chain('ETH-SEPOLIA').rpcUrl)
  const emptyChain = () => {
    node.lie((method, result) => (method === 'eth_getCode' ? '0x' : result))
    node.forwardTo(own)
  }
  for (const [index, comeBack] of [otherChain, emptyChain].entries()) {
    node.forwardTo('http://127.0.0.1:1')
    await becomes('unreachable')
    const before = node.callCounts.get('eth_getBlockByNumber')
    comeBack()
    const isRefused = async () => (await alarmsOf('endpoint-refused')) === index + 1
    await until(isRefused, 'the endpoint is refused')
    expect(await sample('bezant_alarms_open{alarm="endpoint-refused"}')).toBe(1)
    await becomes('unreachable')
    expect(node.callCounts.get('eth_getBlockByNumber')).toBe(before)
    node.lie(undefined)
    node.forwardTo(own)
    await becomes('following')
    await until(
      async () => (await sample('bezant_alarms_open{alarm="endpoint-refused"}')) === 0,
      'the cause is over',
    )
  }
  expect(worker.stderr()).toMatch(/"alarm":"endpoint-refused".*it is a node of chain 11155111/)
  expect(worker.stderr()).toContain(`"alarm":"endpoint-refused","blockchain":"${blockchain}"`)
  expect(worker.stderr()).toContain(`"token":"USDC","address":"${usdc}"`)
})

it('property 60: a nonce used by no known transaction raises an alarm after ten rounds, within a minute', async () => {
  await harness.chain().setAutomine(false)
  const id = await on.transfer(wallet)
  const { id: attemptId, nonce } = await on.sent(id, 'original')
  node.lie((method, result, [address]) =>
    method === 'eth_getTransactionCount' && String(address).toLowerCase() === wallet.address
      ? `0x${(nonce + 1).toString(16)}`
      : result,
  )
  const look = (round: number) =>
    owner.run(
      sql`update attempts set broadcast_count = ${round - 1}, lease_until = now() where id = ${attemptId}`,
    )
  const looked = () =>
    owner.one<{ round: number; restMs: number }>(sql`select broadcast_count as round,
      (extract(epoch from lease_until - now()) * 1000)::float8 as rest_ms from attempts where id = ${attemptId}`)
  await look(2)
  // The lease of a check is shorter than the backoff after it.
  await until(async () => (await looked()).restMs > 3_000, 'it was looked at')
  // The first check comes 15 s after the bytes were sent.
  expect((await looked()).restMs * 10 + 15_000).toBeLessThan(60_000)
  await look(10)
  await isRaised('nonce-unaccounted')
  node.lie(undefined)
  await harness.chain().setAutomine(true)
  await harness.chain().mine()
  await on.reaches(id, 'COMPLETE')
})

it('property 60: a journal that cannot be written raises an alarm', async () => {
  expect(await readdir(join(dataDir, 'journals'))).toHaveLength(1)
  await rm(join(dataDir, 'journals'), { recursive: true })
  await on.transfer(wallet)
  await isRaised('journal-gone')
})

it('property 69: a worker whose port is taken creates nothing', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const port = String((taken.address() as AddressInfo).port)
  const elsewhere = join(dataDir, 'elsewhere')
  const ended = await runProgram({ dataDir: elsewhere, command: 'worker', args: ['--port', port], env })
  taken.close()
  expect(ended.code).toBe(1)
  expect(ended.stderr).toMatch(/port \d+ is in use: .*--port or BEZANT_WORKER_PORT/)
  expect(await readdir(dataDir)).not.toContain('elsewhere')
})
