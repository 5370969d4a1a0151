/** Reads from streaming replicas of the database: a real primary, real standbys, and API processes beside each other. */
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { type Database, openAsOwner, type Sql, sql } from '#runtime/db/db'
import { mayReadReplica } from '#runtime/http/endpoint'
import { transferActions } from '#testing/builders/transfers'
import { makeWallet, makeWalletSet, nextCount, worldOf } from '#testing/builders/world'
import {
  openReplicatedPlatform,
  type ReplicatedPlatform,
  type TestReplica,
} from '#testing/databases/replicated-platform'
import { openCluster, systemPostgres } from '#testing/databases/system-postgres'
import type { Harness } from '#testing/platform/harness'
import { readMetrics } from '#testing/platform/metrics'
import { type Http, type HttpAnswer, httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { openReceiver } from '#testing/servers/receiver'

const postgres = systemPostgres()
let platform: ReplicatedPlatform
let harness: Harness
let replica: TestReplica
/** Two APIs that read from the replica. */
let [first, second] = ['', '']

beforeAll(async () => {
  if (!postgres) return
  platform = await openReplicatedPlatform(postgres)
  harness = platform.harness
  replica = await platform.openReplica()
  first = (await platform.startApi([replica.url])).url
  second = (await platform.startApi([replica.url])).url
})
afterAll(() => platform?.close())

const path = '/v1/w3s/walletSets'

async function dataOf(http: Http, method: string, at: string, body?: object) {
  const answer = await http(method, at, { body })
  expect(answer.status, `${method} ${at}: ${answer.text}`).toBeLessThan(300)
  return answer.body.data
}

/** A tenant with a wallet set, which is renamed through one process and read through another. */
async function openNamed() {
  const tenant = await harness.newEntity()
  const { id } = (await makeWalletSet(worldOf(harness, tenant))).walletSet as { id: string }
  const at = (url: string) => httpAs(url, tenant.apiKey)
  return {
    tenant,
    id,
    at,
    /** Writes through one process, and requires that the next reads of another show it. */
    checkOwnWrite: async (writer: string, reader: string) => {
      const name = `Name ${nextCount()}`
      await dataOf(at(writer), 'PUT', `/v1/w3s/developer/walletSets/${id}`, { name })
      const { walletSet } = await dataOf(at(reader), 'GET', `${path}/${id}`)
      expect(walletSet.name).toBe(name)
      const { walletSets } = await dataOf(at(reader), 'GET', path)
      expect(walletSets.map((set: { name: string }) => set.name)).toEqual([name])
    },
  }
}
type Named = Awaited<ReturnType<typeof openNamed>>

const nameOn = async (url: string, id: string) => {
  const owner = openAsOwner({ url })
  const row = await owner
    .one<{ name: string }>(sql`select name from wallet_sets where id = ${id}`)
    .finally(owner.close)
  return row.name
}

/** Writes and reads through all pairs of processes until the replica has answered so many reads. */
async function untilReplicaServes({ checkOwnWrite }: Named, reads: number): Promise<void> {
  const before = await replica.readsOf('wallet_sets')
  await until(async () => {
    for (const [writer, reader] of [
      [harness.url, first],
      [first, second],
      [second, second],
    ])
      await checkOwnWrite(writer!, reader!)
    return (await replica.readsOf('wallet_sets')) - before >= reads
  }, `the replica serves ${reads} reads`)
}

/** Requires answers to reads that wait for a lock on the replica when it is lost: the primary answers them once its lock is gone. */
async function checkReadsUnderWay(named: Named, lose: () => void): Promise<void> {
  const [owner, standby] = [openAsOwner(harness.connection), openAsOwner({ url: replica.url })]
  const waits = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  const lock = sql`select 1 from pg_locks where relation = 'wallet_sets'::regclass and mode = 'AccessExclusiveLock'`
  const holds = (database: Database, query: Sql) => async () => (await database.all(query)).length > 0
  const locker = openAsOwner(harness.connection)
  const asked: Promise<HttpAnswer>[] = []
  /** Whether a read waited on the replica: all are on the primary where the replica is behind, and wait for its lock alone. */
  const loseUnderRead = () =>
    locker.tx(async (tx) => {
      await tx.run(sql`lock table wallet_sets in access exclusive mode`)
      await until(holds(standby, lock), 'the replica has the lock of the primary')
      // A third would wait for a connection, and no longer than a slow machine takes here.
      asked.push(...[1, 2].map(() => named.at(first)('GET', path)))
      const endMs = performance.now() + lockedMs
      const isWaited = holds(standby, waits)
      await until(async () => (await isWaited()) || performance.now() > endMs)
      if (!(await isWaited())) return false
      lose()
      await until(holds(owner, waits), 'the read waits on the primary')
      return true
    })
  await until(loseUnderRead, 'a read waits on the replica')
  // 429 where the lock lasted longer than a read waits for a connection behind those of other readers.
  for (const { status } of await Promise.all(asked)) expect([200, 429]).toContain(status)
  await Promise.all([locker.close(), owner.close()])
  // A frozen server does not see the end of a connection.
  void standby.close()
}

/** Shorter than reads wait for a lock. */
const lockedMs = 1_500

const outcomesOf = async (url: string) => {
  const samples = await readMetrics({ url, apiKey: harness.apiKey })
  const of = (outcome: string) => samples.get(`bezant_replica_requests_total{outcome="${outcome}"}`) ?? 0
  return { samples, served: of('replica'), behind: of('behind'), failed: of('failed') }
}

describe.runIf(postgres)('with a streaming replica', () => {
  it('property 278: what was written through any process is read through each, while the replica serves, is paused, and lags', async () => {
    const named = await openNamed()
    await untilReplicaServes(named, 20)

    await replica.pause()
    await named.checkOwnWrite(harness.url, first)
    await named.checkOwnWrite(harness.url, second)
    const shown = await nameOn(replica.url, named.id)
    const [before, atPrimary] = [await replica.readsOf('wallet_sets'), await platform.readsOf('wallet_sets')]
    for (let count = 0; count < 10; count++) {
      await named.checkOwnWrite(harness.url, first)
      await named.checkOwnWrite(first, second)
    }
    expect(await replica.readsOf('wallet_sets')).toBe(before)
    expect(await nameOn(replica.url, named.id), 'the replica stands still').toBe(shown)
    expect((await platform.readsOf('wallet_sets')) - atPrimary).toBeGreaterThanOrEqual(40)
    const { samples, behind } = await outcomesOf(first)
    expect(behind).toBeGreaterThan(0)
    expect([...samples].find(([name]) => name.startsWith('bezant_replica_used{'))?.[1]).toBe(0)
    expect([...samples].find(([name]) => name.startsWith('bezant_replica_lag_bytes{'))?.[1]).toBeGreaterThan(
      0,
    )
    await replica.resume()
    await untilReplicaServes(named, 10)

    await replica.delay(40)
    for (let count = 0; count < 10; count++) await named.checkOwnWrite(harness.url, first)
    await replica.delay(400)
    for (let count = 0; count < 10; count++) await named.checkOwnWrite(second, first)
    await replica.delay(0)
    await untilReplicaServes(named, 10)
  })

  it('property 278: what a webhook tells is read when it arrives', async () => {
    const tenant = await harness.newEntity()
    const world = worldOf(harness, tenant)
    const read = httpAs(first, tenant.apiKey)
    const failures: string[] = []
    const told: string[] = []
    const receiver = await openReceiver(async ({ body }) => {
      const { notificationType, notification } = JSON.parse(body)
      if (!String(notificationType).startsWith('transactions.')) return
      const { status, body: found } = await read('GET', `/v1/w3s/transactions/${notification.id}`)
      told.push(notification.state)
      const date = found?.data?.transaction?.updateDate
      if (status !== 200 || !(date >= notification.updateDate))
        failures.push(`${notification.state}: ${status}, ${date} is before ${notification.updateDate}`)
    })
    try {
      await world.call('POST', '/v2/notifications/subscriptions', { endpoint: receiver.url })
      for (const delayMs of [0, 30, 300]) {
        await replica.delay(delayMs)
        const { id } = await world.transfer()
        expect(id).toBeDefined()
        const before = told.length
        await transferActions({ ...harness, ...tenant }).transfer(await world.fundedWallet())
        await until(
          () => told.slice(before).filter((state) => state === 'COMPLETE').length >= 1,
          `webhooks arrive with a delay of ${delayMs} ms`,
        )
      }
      expect(failures).toEqual([])
    } finally {
      await replica.delay(0)
      await receiver.close()
    }
  })

  it('property 278: pages are complete and equal those of the primary, through the published client too', async () => {
    const tenant = await harness.newEntity()
    const world = worldOf(harness, tenant)
    const made: string[] = []
    for (let count = 0; count < 12; count++) made.push((await makeWallet(world, `Wallet ${count}`)).id)
    const client = initiateDeveloperControlledWalletsClient({
      apiKey: tenant.apiKey,
      entitySecret: tenant.entitySecret,
      baseUrl: first,
    })
    const before = await replica.readsOf('wallets')
    for (const step of ['serves', 'is paused', 'serves again'] as const) {
      const seen: string[] = []
      for (let pageAfter: string | undefined; ; ) {
        if (seen.length === 5 && step === 'is paused') await replica.pause()
        const { data } = await client.listWallets({ pageSize: 5, ...(pageAfter && { pageAfter }) })
        const ids = data!.wallets.map(({ id }) => id)
        seen.push(...ids)
        pageAfter = ids.at(-1)
        if (ids.length < 5) break
        // Each page is followed by an item that comes before the first one.
        await makeWallet(world, step)
      }
      await replica.resume()
      expect(new Set(seen).size, step).toBe(seen.length)
      expect(
        made.filter((id) => !seen.includes(id)),
        step,
      ).toEqual([])
    }
    const set = await client.createWalletSet({ name: 'Own' })
    const shown = await client.getWalletSet({ id: set.data!.walletSet.id })
    expect(shown.data!.walletSet).toMatchObject({ name: 'Own' })
    await until(async () => {
      await client.listWallets({ pageSize: 5 })
      return (await replica.readsOf('wallets')) > before
    }, 'the replica has served pages')
    const to = new Date(harness.clock.nowMs()).toISOString()
    for (const at of ['wallets', 'walletSets', 'transactions', 'config/entity/monitoredTokens']) {
      const [own, replicated] = await Promise.all(
        [harness.url, first].map((url) =>
          httpAs(url, tenant.apiKey)('GET', `/v1/w3s/${at}`, { query: { to } }),
        ),
      )
      expect(replicated!.body, at).toEqual(own!.body)
    }
  })

  it('property 278: every operation that a replica may serve is served by it', async () => {
    const operations = endpoints.filter((each) => mayReadReplica(each) && !/[{]|^\/metrics/.test(each.path))
    const { url: plain } = await platform.startApi([])
    const before = await outcomesOf(second)
    for (const { path: at } of operations) {
      // One after the other: of some operations, a tenant has one at a time.
      const own = await httpAs(plain, harness.apiKey)('GET', at)
      const replicated = await httpAs(second, harness.apiKey)('GET', at)
      expect(replicated.status, `${at}: ${replicated.text}`).toBe(own.status)
    }
    const served = async () => (await outcomesOf(second)).served - before.served
    await until(async () => (await served()) > 0, 'the process tells that the replica served')
    console.info(`${operations.length} operations, of which the replica served ${await served()}`)
    expect((await outcomesOf(second)).failed).toBe(before.failed)
  })

  it('property 278: an entity that writes all the time leaves the others on the replica', async () => {
    const busy = await openNamed()
    const quiet = await openNamed()
    await untilReplicaServes(quiet, 3)
    let [writes, isOver] = [0, false]
    const write = async () => {
      for (; !isOver; writes++)
        await dataOf(busy.at(second), 'PUT', `/v1/w3s/developer/walletSets/${busy.id}`, {
          name: `Name ${writes}`,
        })
    }
    const writers = [write(), write(), write(), write()]
    const before = await replica.readsOf('wallet_sets')
    const reads = 200
    for (let count = 0; count < reads; count++) await dataOf(quiet.at(first), 'GET', `${path}/${quiet.id}`)
    const served = (await replica.readsOf('wallet_sets')) - before
    isOver = true
    await Promise.all(writers)
    console.info(
      `the replica served ${served} of ${reads} reads of others beside ${writes} writes of one entity`,
    )
    expect(writes).toBeGreaterThan(100)
    expect(served).toBeGreaterThan(reads / 2)
  })

  it('property 279: no request fails while the replica is killed, started again, frozen and promoted', async () => {
    const named = await openNamed()
    await untilReplicaServes(named, 3)
    const statuses = new Map<number, number>()
    let isOver = false
    const readAll = async () => {
      while (!isOver) {
        const { status } = await named.at(first)('GET', path)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    const readers = Promise.all([readAll(), readAll(), readAll()])
    const checkServed = async () => {
      for (let count = 0; count < 5; count++) await named.checkOwnWrite(harness.url, first)
    }
    try {
      await replica.kill()
      await checkServed()
      await replica.start()
      await untilReplicaServes(named, 10)
      await checkReadsUnderWay(named, () => replica.freeze())
      await checkServed()
      replica.thaw()
      await untilReplicaServes(named, 10)
      replica.promote()
      await checkServed()
      const before = await replica.readsOf('wallet_sets')
      await checkServed()
      expect(await replica.readsOf('wallet_sets')).toBe(before)
      const raised = 'bezant_alarms_total{alarm="replica-unused"}'
      await until(
        async () => ((await outcomesOf(first)).samples.get(raised) ?? 0) > 0,
        'the process tells of a replica that is not used',
      )
      const readiness = await httpAs(first, undefined)('GET', '/ready')
      expect(readiness.body.database).toBe('ready')
    } finally {
      // A server that stays frozen never closes.
      replica.thaw()
      isOver = true
      await readers
    }
    expect(
      [...statuses.keys()].filter((status) => status !== 429),
      `${[...statuses]}`,
    ).toEqual([200])
  })

  it('property 279: a server that is no replica, or cannot be judged, is not used, and the reason is told', async () => {
    const other = await openCluster(postgres!)
    const replacement = await platform.openReplica()
    const owner = openAsOwner(harness.connection)
    await owner.script('create role reader login; grant bezant_runtime to reader')
    const reader = replacement.url.replace('postgres@', 'reader@')
    const primary = new URL((harness.connection as { url: string }).url)
    const urls = [primary.href, `postgresql://postgres@127.0.0.1:${other.port}/postgres`, reader]
    const reasons = ['it is no standby', 'it is no physical copy', 'grant pg_read_all_stats']
    try {
      await until(async () => (await canConnect(reader)) === true, 'the user is replicated')
      const { stdout } = await runCommand({
        command: 'doctor',
        args: ['--json', '--for', 'serve', '--port', '0'],
        dataDir: harness.ctx.config.dataDir,
        env: { DATABASE_URL: primary.href, BEZANT_READ_DATABASE_URL: urls.join(',') },
      })
      for (const reason of reasons) expect(stdout).toContain(reason)
      const { url, worker } = await platform.startApi(urls, 'error')
      const named = await openNamed()
      await named.checkOwnWrite(harness.url, url)
      await until(() => reasons.every((reason) => worker.logged().includes(reason)), 'each reason is told')
      expect((await outcomesOf(url)).served).toBe(0)
      await owner.script('grant pg_read_all_stats to reader')
      await until(async () => {
        await named.checkOwnWrite(harness.url, url)
        return (await outcomesOf(url)).served > 0
      }, 'the replica is used once the user has the right')
    } finally {
      await owner.close()
      await other.close()
    }
  })
})

async function canConnect(url: string): Promise<boolean> {
  const database = openAsOwner({ url })
  return database
    .one(sql`select 1 as yes`)
    .then(
      () => true,
      () => false,
    )
    .finally(database.close)
}
