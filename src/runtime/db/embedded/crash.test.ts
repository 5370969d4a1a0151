import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import {
  type Child,
  cleanUp,
  findPids,
  isRunning,
  kill,
  signal,
  startChild,
  temporaryDirectory,
  until,
} from '../../../../testing/embedded/kit.ts'
import { startEmbeddedPostgres } from './index.ts'
import { clusterName } from './orphans.ts'

afterEach(cleanUp)

const log = { info: () => {}, warn: () => {}, error: () => {} }

/** A child that runs a server, and inserts into it, until `rows` were acknowledged. */
async function busyChild(dataDir: string, rows: number): Promise<Child> {
  const child = await startChild()
  expect((await child.order('start', { dataDir, ephemeral: false })).error).toBeUndefined()
  void child.order('insert', { dataDir })
  await until(() => child.acknowledged.length >= rows)
  return child
}

async function endWatchdog(cluster: string): Promise<void> {
  const postmaster = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]
  const watchdogs = findPids(`bezant-watchdog ${postmaster} `)
  expect(watchdogs).toHaveLength(1)
  process.kill(watchdogs[0]!, 'SIGKILL')
}

/** Starts on the directory in this process, within 3 s, and checks that no acknowledged row is missing. */
async function expectRecovery(dataDir: string, acknowledged: string[]): Promise<void> {
  const began = performance.now()
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  const startedInMs = performance.now() - began
  const client = new pg.Client(server.connection)
  await client.connect()
  const { rows } = await client.query('SELECT id FROM kept')
  await client.end()
  const kept = new Set(rows.map(({ id }) => id))
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
  expect(startedInMs).toBeLessThan(30_000)
  await server.stop()
}

test('kill -9 of everything loses no acknowledged row, five times over', async () => {
  const dataDir = temporaryDirectory()
  const cluster = join(dataDir, 'postgres')
  const acknowledged: string[] = []
  for (let round = 0; round < 5; round++) {
    const child = await busyChild(dataDir, 200)
    const name = await clusterName(cluster)
    await endWatchdog(cluster)
    child.process.kill('SIGKILL')
    signal(findPids(name), 'SIGKILL')
    await kill(child.process)
    acknowledged.push(...child.acknowledged)
    await expectRecovery(dataDir, acknowledged)
  }
  expect(acknowledged.length).toBeGreaterThan(1000)
})

test('a killed supervisor takes its server down with it', async () => {
  const dataDir = temporaryDirectory()
  const child = await busyChild(dataDir, 20)
  const name = await clusterName(join(dataDir, 'postgres'))
  await kill(child.process)
  await until(() => findPids(name).length === 0, 15_000)
  await expectRecovery(dataDir, child.acknowledged)
})

test('a server orphaned without a watchdog is ended by the next start', async () => {
  const dataDir = temporaryDirectory()
  const cluster = join(dataDir, 'postgres')
  const child = await busyChild(dataDir, 20)
  await endWatchdog(cluster)
  await kill(child.process)
  const orphans = findPids(await clusterName(cluster))
  expect(orphans.length).toBeGreaterThan(3)
  await expectRecovery(dataDir, child.acknowledged)
  expect(orphans.filter(isRunning)).toEqual([])
})

test('an orphan that ignores the orderly shutdown is ended in time', async () => {
  const dataDir = temporaryDirectory()
  const cluster = join(dataDir, 'postgres')
  const child = await busyChild(dataDir, 20)
  await endWatchdog(cluster)
  await kill(child.process)
  signal(findPids(await clusterName(cluster)), 'SIGSTOP')
  await expectRecovery(dataDir, child.acknowledged)
})

test('backends that outlive their postmaster are ended before another is started', async () => {
  const dataDir = temporaryDirectory()
  const cluster = join(dataDir, 'postgres')
  const child = await busyChild(dataDir, 20)
  const name = await clusterName(cluster)
  const backends = findPids(`postgres: ${name}: bezant bezant`)
  expect(backends).toHaveLength(1)
  process.kill(backends[0]!, 'SIGSTOP')
  await endWatchdog(cluster)
  await kill(child.process)
  signal(findPids(`cluster_name=${name}`), 'SIGKILL')
  await expectRecovery(dataDir, child.acknowledged)
  expect(isRunning(backends[0]!)).toBe(false)
})

test('a stale postmaster.pid whose number is another process now is no obstacle', async () => {
  const dataDir = temporaryDirectory()
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  const lines = readFileSync(pidFile, 'utf8').split('\n')
  await server.stop()
  const bystander = await startChild()
  writeFileSync(pidFile, [bystander.process.pid, ...lines.slice(1)].join('\n'), { mode: 0o600 })
  const again = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  expect(bystander.process.exitCode).toBeNull()
  await again.stop()
})

test('a copy of the cluster that was cut short is made again', async () => {
  const dataDir = temporaryDirectory()
  mkdirSync(join(dataDir, 'postgres.new', 'base'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres.new', 'PG_VERSION'), '18\n')
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  await server.stop()
  expect(readdirSync(dataDir).sort()).toEqual(['lock', 'postgres'])
})

test('killed ephemeral runs leave no server and no cluster, even when nobody starts there again', async () => {
  const dataDir = temporaryDirectory()
  const child = await startChild()
  await child.order('start', { dataDir, ephemeral: true })
  const cluster = readdirSync(dataDir).find((name) => name.startsWith('ephemeral-'))!
  const name = await clusterName(join(dataDir, cluster))
  await kill(child.process)
  await until(() => findPids(name).length === 0 && !existsSync(join(dataDir, cluster)))
})

test('an ephemeral cluster that a killed run left is cleared by the next start', async () => {
  const dataDir = temporaryDirectory()
  const child = await startChild()
  await child.order('start', { dataDir, ephemeral: true })
  const cluster = readdirSync(dataDir).find((name) => name.startsWith('ephemeral-'))!
  await endWatchdog(join(dataDir, cluster))
  const name = await clusterName(join(dataDir, cluster))
  await kill(child.process)
  await sleep(300)
  const orphans = findPids(name)
  expect(orphans.length).toBeGreaterThan(3)
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  expect(orphans.filter(isRunning)).toEqual([])
  expect(readdirSync(dataDir).sort()).toEqual(['lock', 'postgres'])
  await server.stop()
})

test('a moved cluster is still recognised as its own orphan', async () => {
  const dataDir = temporaryDirectory()
  const child = await busyChild(dataDir, 20)
  const elsewhere = temporaryDirectory()
  await endWatchdog(join(dataDir, 'postgres'))
  await kill(child.process)
  const name = await clusterName(join(dataDir, 'postgres'))
  expect(findPids(name).length).toBeGreaterThan(0)
  renameSync(join(dataDir, 'postgres'), join(elsewhere, 'postgres'))
  await expectRecovery(elsewhere, child.acknowledged)
})
