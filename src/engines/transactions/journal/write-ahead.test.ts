/**
 * Every send is held at the node's address until the database and the journal files were checked for it, and the system
 * calls of a worker are traced: no bytes leave before an fsync covers them.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import type { Wallet } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep, sizeOf } from '#testing/runner/size'
import { listJournalIds } from './directory.ts'
import { bytesIn, decodeRecords } from './journal.ts'
import { readFrom } from './segments.ts'

const transfersTotal = sizeOf('JOURNAL_TRANSFERS', { usual: 12, deep: 300 })
const tracedTotal = isDeep ? 60 : 8
const unwrittenTotal = isDeep ? 20 : 6
const strace = '/usr/bin/strace'

let harness: Harness
let sending: ReturnType<typeof transferActions>
let indexer: { stop(): Promise<void> }
let dataDir: string
const wallets: Wallet[] = []
const workers: Worker[] = []
const violations: string[] = []
const arrivals: { atMs: number; raws: string[] }[] = []

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bezant-write-ahead-'))
  harness = await openHarness({ engines: false, blockTimeMs: isDeep ? 150 : 300 })
  indexer = startIndexer(harness.ctx)
  sending = transferActions(harness)
  for (let index = 0; index < 3; index++)
    wallets.push(await sending.fundedWallet({ usdc: '1000', native: '100' }))
  harness.chain().intercept(requireWritten)
})
afterAll(async () => {
  for (const worker of workers) worker.signal('SIGKILL')
  await indexer?.stop()
  await harness?.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** The content of the journal files, read incrementally from the last position. */
const journaled = new Set<string>()
const readUpTo = new Map<string, number>()

async function readJournals(): Promise<void> {
  const home = join(dataDir, 'journals')
  for (const id of await listJournalIds(home))
    for await (const { head, payload } of readFrom(join(home, id), id, readUpTo.get(id) ?? 0)) {
      readUpTo.set(id, head.sequence)
      for (const record of decodeRecords(payload)) journaled.add(bytesIn(record))
    }
}

async function requireWritten({ body }: { body: Buffer }): Promise<'forward'> {
  const atMs = Date.now()
  const parsed = JSON.parse(body.toString())
  const asked: { method: string; params: string[] }[] = Array.isArray(parsed) ? parsed : [parsed]
  const raws = asked
    .filter(({ method }) => method === 'eth_sendRawTransaction')
    .map(({ params }) => params[0]!)
  if (raws.length === 0) return 'forward'
  arrivals.push({ atMs, raws })
  await readJournals()
  const bytes = raws.map((raw) => Buffer.from(raw.slice(2), 'hex'))
  const rows = await harness.database.all<{ raw: Buffer }>(
    sql`select raw_transaction as raw from attempts where raw_transaction = any(${bytes}::bytea[])`,
  )
  const stored = new Set(rows.map(({ raw }) => `0x${raw.toString('hex')}`))
  for (const raw of raws) {
    if (!stored.has(raw)) violations.push(`not in the database: ${raw}`)
    if (!journaled.has(raw)) violations.push(`not in a journal: ${raw}`)
  }
  return 'forward'
}

async function newWorker(): Promise<Worker> {
  const { connection } = harness
  const { rpcUrl, blockchain } = harness.chain()
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({ connection, rpcUrl, blockchain, roles: ['transactions'], dataDir })
  return worker
}

/** The worker that was not killed. */
const survivor = () => workers.find((worker) => worker.state() === 'running')!

const transfer = (wallet: Wallet) => sending.transfer(wallet, { amounts: ['0.01'] })

const allComplete = async () => {
  const open = sql`select 1 from transactions where transaction_type = 'OUTBOUND' and state <> 'COMPLETE' limit 1`
  return (await harness.database.all(open)).length === 0
}

it(`property 13: each of ${transfersTotal} transfers is in the database and a journal before its first byte is sent`, async () => {
  const [first] = await Promise.all([newWorker(), newWorker()])
  for (const worker of workers) await worker.start()
  for (let index = 0; index < transfersTotal; index++) {
    await transfer(wallets[index % wallets.length]!)
    // One worker is killed meanwhile: a worker that sends its claims must write them down too.
    if (index === Math.floor(transfersTotal / 2)) first.signal('SIGKILL')
  }
  await until(allComplete, 'every transfer is complete')
  expect(arrivals.flatMap(({ raws }) => raws).length).toBeGreaterThanOrEqual(transfersTotal)
  expect(violations).toEqual([])
  const { hashes } = await harness.database.one<{ hashes: string[] }>(
    sql`select array_agg(tx_hash) as hashes from attempts`,
  )
  expect(hashes).toHaveLength(transfersTotal)
})

it.runIf(existsSync(strace))('property 13: at least one fsync ends before each request is sent', async () => {
  const worker = survivor()
  const trace = join(dataDir, 'trace')
  const stop = await watch(worker, ['-ttt', '-e', 'trace=fdatasync', '-o', trace])
  arrivals.length = 0
  const sent: Promise<string>[] = []
  for (let index = 0; index < tracedTotal; index++) {
    sent.push(transfer(wallets[index % wallets.length]!))
    await sleep(20)
  }
  await Promise.all(sent)
  await until(allComplete, 'every transfer is complete')
  await stop()
  const endedMs = (await readFile(trace, 'utf8'))
    .split('\n')
    .filter((line) => /fdatasync.*= 0$/.test(line))
    .map((line) => Number(/(\d+\.\d+)/.exec(line)![1]) * 1_000)
  const known = new Set<string>()
  let requests = 0
  for (const { atMs, raws } of arrivals) {
    // Repeated sends were covered before.
    if (raws.every((raw) => known.has(digestOf(raw)))) continue
    for (const raw of raws) known.add(digestOf(raw))
    requests += 1
    // The next write may be on disk already while this request is under way.
    expect(endedMs.filter((endMs) => endMs <= atMs + 1).length).toBeGreaterThanOrEqual(requests)
  }
  expect(known.size).toBe(tracedTotal)
})

it.runIf(existsSync(strace))(
  'property 13: nothing is sent while the journal cannot be written, and everything afterwards',
  async () => {
    const trace = join(dataDir, 'refused')
    const stop = await watch(survivor(), [
      '-e',
      'trace=fdatasync',
      '-e',
      'inject=fdatasync:error=ENOSPC',
      '-o',
      trace,
    ])
    arrivals.length = 0
    await Promise.all(Array.from({ length: unwrittenTotal }, () => transfer(wallets[0]!)))
    // Either a claim fails, or the worker finds its journal unwritable before it signs.
    await until(
      async () => (await readFile(trace, 'utf8')).split('INJECTED').length > 2,
      'it could not write, and tried again',
    )
    expect(arrivals).toEqual([])
    await stop()
    await until(allComplete, 'every transfer is complete')
    expect(arrivals.length).toBeGreaterThan(0)
    expect(violations).toEqual([])
  },
)

const digestOf = (raw: string) => createHash('sha256').update(raw).digest('hex')

/** Attaches to a process; resolves when attached, with a function that detaches. */
async function watch(worker: Worker, args: readonly string[]) {
  const tracer = spawn(strace, ['-f', '-p', String(worker.pid), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await once(tracer.stderr, 'data')
  return async () => {
    const exited = once(tracer, 'exit')
    tracer.kill('SIGINT')
    await exited
  }
}
