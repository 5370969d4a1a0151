import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { until } from '#testing/platform/until'
import {
  type Child,
  cleanUp,
  findPids,
  isRunning,
  kill,
  signal,
  startChild,
  temporaryDirectory,
} from '#testing/postgres/kit'
import { isDeep } from '#testing/runner/size'
import { startEmbeddedPostgres } from './index.ts'
import { clusterName } from './leftovers.ts'

const crashes = isDeep ? 5 : 2
const rowsEach = isDeep ? 200 : 60

/** The cluster that all tests crash in turn; it must keep all acknowledged rows. */
let dataDir: string
let cluster: string
const acknowledged: string[] = []

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'postgres-test-'))
  cluster = join(dataDir, 'postgres')
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
afterEach(cleanUp)

const log = { info: () => {}, warn: () => {}, error: () => {} }

/** Starts a child that runs a server and inserts rows, until `rows` are acknowledged. */
async function busyChild(rows = 20): Promise<Child> {
  const child = await startChild()
  expect((await child.request('start', { dataDir, ephemeral: false })).error).toBeUndefined()
  void child.request('insert', { dataDir })
  await until(() => child.acknowledged.length >= rows)
  return child
}

async function endWatchdog(cluster: string): Promise<void> {
  const postmaster = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]
  const watchdogs = findPids(`bezant-watchdog ${postmaster} `)
  expect(watchdogs).toHaveLength(1)
  process.kill(watchdogs[0]!, 'SIGKILL')
}

/** Starts a server on the directory in this process, and checks that no row acknowledged now or before is missing. */
async function expectRecovery(child: Child, place = dataDir): Promise<void> {
  acknowledged.push(...child.acknowledged)
  const server = await startEmbeddedPostgres({ dataDir: place, ephemeral: false, log })
  const client = new pg.Client(server.connection)
  await client.connect()
  const { rows } = await client.query('SELECT id FROM kept')
  await client.end()
  const kept = new Set(rows.map(({ id }) => id))
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
  await server.stop()
}

test('an incomplete copy of the cluster is replaced', async () => {
  mkdirSync(`${cluster}.new/base`, { recursive: true })
  writeFileSync(`${cluster}.new/PG_VERSION`, '18\n')
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  await server.stop()
  expect(readdirSync(dataDir).sort()).toEqual(['lock', 'postgres'])
})

test(`kill -9 of all processes loses no acknowledged row (${crashes} times)`, async () => {
  for (let round = 0; round < crashes; round++) {
    const child = await busyChild(rowsEach)
    const name = await clusterName(cluster)
    await endWatchdog(cluster)
    child.process.kill('SIGKILL')
    signal(findPids(name), 'SIGKILL')
    await kill(child.process)
    await expectRecovery(child)
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(crashes * rowsEach)
})

test('the watchdog ends the server of a killed sandbox', async () => {
  const child = await busyChild()
  const name = await clusterName(cluster)
  await kill(child.process)
  await until(() => findPids(name).length === 0)
  await expectRecovery(child)
})

test('the next start ends a leftover server that had no watchdog', async () => {
  const child = await busyChild()
  await endWatchdog(cluster)
  await kill(child.process)
  const leftovers = findPids(await clusterName(cluster))
  expect(leftovers.length).toBeGreaterThan(3)
  await expectRecovery(child)
  expect(leftovers.filter(isRunning)).toEqual([])
})

test('the next start kills a leftover server that ignores the orderly shutdown', async () => {
  const child = await busyChild()
  await endWatchdog(cluster)
  await kill(child.process)
  signal(findPids(await clusterName(cluster)), 'SIGSTOP')
  await expectRecovery(child)
})

test('the next start ends backends that outlive their postmaster', async () => {
  const child = await busyChild()
  const name = await clusterName(cluster)
  const backends = findPids(`postgres: ${name}: bezant bezant`)
  expect(backends).toHaveLength(1)
  process.kill(backends[0]!, 'SIGSTOP')
  await endWatchdog(cluster)
  await kill(child.process)
  signal(findPids(`cluster_name=${name}`), 'SIGKILL')
  await expectRecovery(child)
  expect(isRunning(backends[0]!)).toBe(false)
})

test('a start ignores a stale postmaster.pid that names an unrelated process', async () => {
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  const pidFile = join(cluster, 'postmaster.pid')
  const lines = readFileSync(pidFile, 'utf8').split('\n')
  await server.stop()
  const bystander = spawn('/bin/cat', { stdio: 'pipe' })
  writeFileSync(pidFile, [bystander.pid, ...lines.slice(1)].join('\n'), { mode: 0o600 })
  const again = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null])
  await again.stop()
  await kill(bystander)
})

test('the watchdog of a killed ephemeral run ends the server and removes the cluster', async () => {
  const elsewhere = temporaryDirectory()
  const child = await startChild()
  await child.request('start', { dataDir: elsewhere, ephemeral: true })
  const found = readdirSync(elsewhere).find((name) => name.startsWith('ephemeral-'))!
  const name = await clusterName(join(elsewhere, found))
  await kill(child.process)
  await until(() => findPids(name).length === 0 && !existsSync(join(elsewhere, found)))
})

test('the next start removes the ephemeral cluster of a killed run', async () => {
  const child = await startChild()
  await child.request('start', { dataDir, ephemeral: true })
  const found = join(dataDir, readdirSync(dataDir).find((name) => name.startsWith('ephemeral-'))!)
  await endWatchdog(found)
  const name = await clusterName(found)
  await kill(child.process)
  await sleep(300)
  const leftovers = findPids(name)
  expect(leftovers.length).toBeGreaterThan(3)
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  expect(leftovers.filter(isRunning)).toEqual([])
  expect(readdirSync(dataDir).sort()).toEqual(['lock', 'postgres'])
  await server.stop()
})

test('the next start recognises the leftover server of a moved cluster', async () => {
  const child = await busyChild()
  const elsewhere = temporaryDirectory()
  await endWatchdog(cluster)
  await kill(child.process)
  const name = await clusterName(cluster)
  expect(findPids(name).length).toBeGreaterThan(0)
  renameSync(cluster, join(elsewhere, 'postgres'))
  await expectRecovery(child, elsewhere)
})
