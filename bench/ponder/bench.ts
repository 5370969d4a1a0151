import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '#runtime/db/db'
import { joinEmbeddedPostgres } from '#sandbox/postgres/index'
import { rpc } from '#testing/platform/json-rpc'
import type { Node } from '../chain.ts'
import { type Emitter, openEmitter } from '../emitter.ts'
import { monitor, subscribe } from '../events.ts'
import type { Figure } from '../figures.ts'
import { startSandbox } from '../inbound.ts'
import { measureBusyCores } from '../machine.ts'
import type { Bench, Run } from '../run.ts'
import { median, percentile, ratioOf } from '../statistics.ts'
import { callApi } from '../tenant.ts'
import { until } from '../until.ts'
import { openWebhookEndpoint, type WebhookEndpoint } from '../webhook-endpoint.ts'
import { type Ponder, startPonder, type Watching } from './indexer.ts'

/** Events of a block of the past. */
const blockSize = 50
/** Blocks that Ponder takes for not final: it reads them as new ones, after the others. */
const unfinalized = 30
const patience = { everyMs: 2, patienceMs: 600_000 }

type Setup = Awaited<ReturnType<typeof openSetup>>

export const ponderBench: Bench = {
  name: 'ponder',
  about: 'an event to its webhook, and past events, beside the Ponder indexer',
  measure: async (run) => {
    const setup = await openSetup(run)
    const count = run.amount(20_000, 2_000, blockSize)
    const past: Past[] = []
    const figures: Figure[] = []
    for (const watching of ['template', 'eager'] as const) {
      const emitter = await openEmitter(setup.node)
      await fillPast(setup, emitter, count)
      const busy = measureBusyCores()
      const { ponder, rates } = await catchUp(setup, emitter, watching, count)
      past.push({ ...rates, coresBusy: busy() })
      figures.push(await latencyFigure(setup, emitter, ponder, watching))
      await ponder.stop()
    }
    return [...figures, ...pastFigures(past, count)]
  },
}

async function openSetup(run: Run) {
  const { node, tenant, dataDir } = await startSandbox(run)
  const endpoint = await openWebhookEndpoint()
  run.atEnd(endpoint.receiver.close)
  const connection = await joinEmbeddedPostgres({ dataDir })
  return { run, node, tenant, endpoint, connection }
}

/** Emits the events, and mines as many empty blocks after them as Ponder takes for not final. */
async function fillPast({ node }: Setup, { emit }: Emitter, count: number): Promise<void> {
  for (let first = 0; first < count; first += blockSize) await emit([{ count: blockSize, first }])
  await rpc(node.url, 'anvil_mine', [`0x${(unfinalized + 1).toString(16)}`])
}

/** Events per second of each reader. */
type Rates = { ours: number; theirs: number; ceiling: number }
type Past = Rates & { coresBusy: number }

async function catchUp(setup: Setup, emitter: Emitter, watching: Watching, count: number) {
  const { run, node, tenant, connection } = setup
  const ceiling = count / (await secondsToRead(node, emitter.address, count))
  const startedMs = performance.now()
  const monitorId = await monitor(tenant, emitter.address, 0)
  const isComplete = async () => {
    const { eventMonitors } = await callApi(tenant, 'GET', '/v1/w3s/contracts/monitors')
    return eventMonitors.find(({ id }: { id: string }) => id === monitorId).history.isComplete
  }
  await until(isComplete, 'our history is complete', patience)
  const ours = count / ((performance.now() - startedMs) / 1_000)
  const ponder = await startPonder(run, { connection, node, token: emitter.address, watching })
  const isDone = async () => (await countOf(ponder)) >= count
  await until(isDone, 'Ponder has all past events', patience)
  const theirs = count / ((performance.now() - ponder.startedMs) / 1_000)
  const rates = { ours, theirs, ceiling }
  const shown = Object.entries(rates).map(([name, rate]) => `${name} ${rate.toFixed(0)}/s`)
  run.report(`${count} past events: ${shown.join(', ')}`)
  return { ponder, rates }
}

/** Seconds that the node takes for all logs at once; the median of three reads. */
async function secondsToRead({ url }: Node, address: string, count: number): Promise<number> {
  const seconds: number[] = []
  for (let round = 0; round < 3; round++) {
    const startedMs = performance.now()
    const logs = await rpc<unknown[]>(url, 'eth_getLogs', [{ address, fromBlock: '0x0', toBlock: 'latest' }])
    seconds.push((performance.now() - startedMs) / 1_000)
    if (logs.length !== count) throw new Error(`the node has ${logs.length} logs, not ${count}`)
  }
  return median(seconds)
}

async function countOf({ database }: Ponder): Promise<number> {
  return (await database.one<{ count: number }>(sql`select count(*) from transfers`)).count
}

/** One event at a time, at random moments of the other's polls; both see each of them. */
async function latencyFigure(
  { run, tenant, endpoint }: Setup,
  emitter: Emitter,
  ponder: Ponder,
  watching: Watching,
): Promise<Figure> {
  const { id } = await subscribe(tenant, endpoint.receiver.url)
  const count = run.amount(100, 20, 1)
  const seen: { ours: number; ponder: number }[] = []
  const busy = measureBusyCores()
  for (let index = 0; index < count + 3; index++) {
    await sleep(Math.random() * 1_000)
    const latencies = await latenciesOf(emitter, endpoint, ponder)
    if (index >= 3) seen.push(latencies)
  }
  const coresBusy = busy()
  await callApi(tenant, 'DELETE', `/v2/notifications/subscriptions/${id}`)
  const ours = seen.map((latencies) => latencies.ours)
  const theirs = seen.map((latencies) => latencies.ponder)
  const p90 = [ours, theirs].map((list) => percentile(list, 0.9).toFixed(0))
  run.report(`${watching} settings: p90 ${p90[0]} and ${p90[1]} ms`)
  const [value, reference] = [median(ours), median(theirs)]
  return {
    name: `event to webhook beside Ponder with ${settings[watching]}, p50 of ${count}`,
    measured: { value, unit: 'ms' },
    reference: { value: reference, unit: 'ms', what: 'to its table' },
    ratio: value / reference,
    ...(watching === 'template' && { promise: { ratioMax: 0.1 } }),
    coresBusy,
  }
}

const settings: Record<Watching, string> = {
  template: 'the settings of its template',
  eager: 'WebSocket and its shortest interval',
}

/** Milliseconds from sending a transaction with one event until our webhook arrives, and until Ponder's table has it. */
async function latenciesOf({ emit }: Emitter, { arrival }: WebhookEndpoint, { database }: Ponder) {
  const startedMs = performance.now()
  const [hash] = await emit([{ count: 1, first: 1 }])
  const isThere = async () =>
    (await database.maybe(sql`select 1 from transfers where tx_hash = ${hash!}`)) !== undefined
  const [ours, ponder] = await Promise.all([
    arrival(hash!),
    until(isThere, `Ponder has ${hash}`, patience).then(() => performance.now()),
  ])
  return { ours: ours - startedMs, ponder: ponder - startedMs }
}

function pastFigures(past: readonly Past[], count: number): Figure[] {
  const listOf = (name: keyof Past) => past.map((rates) => rates[name])
  const rate = (name: keyof Rates) => ({ value: median(listOf(name)), unit: 'events/s' as const })
  const figure = (reference: 'theirs' | 'ceiling', what: string) => ({
    name: `${count.toLocaleString('en')} past events`,
    measured: rate('ours'),
    reference: { ...rate(reference), what },
    ratio: ratioOf(listOf('ours'), listOf(reference)),
    coresBusy: median(listOf('coresBusy')),
  })
  return [
    { ...figure('theirs', 'Ponder, its start included'), promise: { ratioMin: 100 } },
    figure('ceiling', 'eth_getLogs of the range'),
  ]
}
