import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { joinEmbeddedPostgres } from '#sandbox/postgres/index'
import { type Emitter, openEmitter } from './emitter.ts'
import { type Endpoint, openEndpoints } from './endpoints.ts'
import { monitor, subscribe } from './events.ts'
import type { Figure } from './figures.ts'
import { startSandbox } from './inbound.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { percentile } from './statistics.ts'
import { until } from './until.ts'

const eventsPerSecond = 200
const transactionsPerSecond = 10
const sound = 16
/** How the other endpoints treat webhooks, once they are subscribed. */
const faults = ['refuses', 'fails', 'silent', 'slow'] as const
const patience = { everyMs: 20, patienceMs: 900_000 }

/** The promised share of the emitted webhooks: 3,000 of 3,200 a second. */
const deliveredMin = 0.94

export const fanOutBench: Bench = {
  name: 'fanout',
  about: 'events at a constant rate to 20 endpoints, of which 4 are dead or slow',
  measure: async (run) => {
    const count = wholeTransactions(run.amount(10_000, 1_000, 1))
    const early = wholeTransactions(count / 5)
    const { node, tenant, dataDir } = await startSandbox(run)
    const database = openAsOwner(await joinEmbeddedPostgres({ dataDir }))
    run.atEnd(database.close)
    const emitter = await openEmitter(node)
    await monitor(tenant, emitter.address)
    const endpoints = await openEndpoints(run, sound + faults.length)
    const [healthy, others] = [endpoints.slice(0, sound), endpoints.slice(sound)]
    for (const { url } of healthy) await subscribe(tenant, url)
    const alone = await measureStretch(run, emitter, healthy, early)
    for (const { url } of others) await subscribe(tenant, url)
    for (const [index, endpoint] of others.entries()) endpoint.behave(faults[index]!)
    const all = await measureStretch(run, emitter, healthy, count)
    await checkLog(database, count + early, count)
    const what = `${count.toLocaleString('en')} events at ${eventsPerSecond}/s to ${endpoints.length} endpoints, ${faults.length} of them dead or slow`
    return [
      {
        name: `${what}, p99 of the others`,
        measured: { value: all.p99Ms, unit: 'ms' },
        reference: { value: alone.p99Ms, unit: 'ms', what: 'without the four' },
        ratio: all.p99Ms / alone.p99Ms,
        promise: { max: 1_000 },
        coresBusy: all.coresBusy,
      },
      {
        name: `${what}, webhooks delivered`,
        measured: { value: all.perSecond, unit: 'requests/s' },
        reference: { value: eventsPerSecond * sound, unit: 'requests/s', what: 'emitted' },
        ratio: all.perSecond / (eventsPerSecond * sound),
        promise: { ratioMin: deliveredMin },
        coresBusy: all.coresBusy,
      },
    ] satisfies Figure[]
  },
}

const eventsOfTransaction = eventsPerSecond / transactionsPerSecond

/** Rounds a number of events up to those of whole transactions, which is what is emitted. */
const wholeTransactions = (count: number) => Math.ceil(count / eventsOfTransaction) * eventsOfTransaction

/** Emits at the rate, and waits until every healthy endpoint has every event. */
async function measureStretch(run: Run, { emit }: Emitter, healthy: readonly Endpoint[], count: number) {
  const size = eventsOfTransaction
  const sentMs = new Map<string, number>()
  for (const endpoint of healthy) endpoint.arrivals.clear()
  const busy = measureBusyCores()
  const startedMs = performance.now()
  for (let sent = 0; sent < count; sent += size) {
    await sleep(Math.max(0, startedMs + (sent / eventsPerSecond) * 1_000 - performance.now()))
    const atMs = performance.now()
    const [hash] = await emit([{ count: size, first: sent }])
    sentMs.set(hash!, atMs)
  }
  const emittedMs = performance.now() - startedMs
  const have = () => Math.min(...healthy.map(({ arrivals }) => arrivals.size))
  await until(() => have() >= count, `every endpoint has ${count} events`, patience)
  const tookMs = performance.now() - startedMs
  const latencies = healthy.flatMap(({ arrivals }) =>
    [...arrivals].map(([key, atMs]) => atMs - sentMs.get(key.split(' ')[0]!)!),
  )
  const [p50Ms, p99Ms] = [0.5, 0.99].map((share) => percentile(latencies, share)) as [number, number]
  run.report(
    `${count} events emitted in ${(emittedMs / 1_000).toFixed(1)} s, delivered in ${(tookMs / 1_000).toFixed(1)} s, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`,
  )
  return { p99Ms, perSecond: latencies.length / (tookMs / 1_000), coresBusy: busy() }
}

/** Throws unless each endpoint has a delivery of each event since it subscribed, with an attempt wherever it is sound. */
async function checkLog(database: Database, early: number, late: number): Promise<void> {
  const counts = sql`select s.id, count(*) as deliveries, count(*) filter (where d.state = 'delivered' and exists (
      select 1 from notification_attempts a where a.entity_id = d.entity_id and a.subscription_id = d.subscription_id
        and a.message_id = d.message_id and a.status = 200)) as delivered
    from notification_subscriptions s
    join notification_deliveries d on d.entity_id = s.entity_id and d.subscription_id = s.id
    group by s.id, s.create_date order by s.create_date`
  let rows: { deliveries: number; delivered: number }[] = []
  const isComplete = async () => {
    rows = await database.all(counts)
    const [healthy, others] = [rows.slice(0, sound), rows.slice(sound)]
    return (
      healthy.length === sound &&
      healthy.every(({ deliveries, delivered }) => deliveries === early && delivered === early) &&
      others.length === faults.length &&
      others.every(({ deliveries }) => deliveries === late)
    )
  }
  // An attempt is recorded after its answer.
  for (let attempt = 0; attempt < 50; attempt++) {
    if (await isComplete()) return
    await sleep(100)
  }
  const found = rows.map(({ deliveries, delivered }) => `${delivered} of ${deliveries}`)
  throw new Error(
    `the log of deliveries is not complete: ${found.join(', ')}, and not ${early} of ${early} and ${late}`,
  )
}
