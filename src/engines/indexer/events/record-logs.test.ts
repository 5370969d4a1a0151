import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAsOwner, raw, sql } from '#runtime/db/db'
import { alarmCounts } from '#runtime/log/alarms'
import { emit, makeEmitter, makeMonitor, movedTopic } from '#testing/builders/emitter'
import { type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { readMetrics } from '#testing/platform/metrics'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import { isDeep, sizeOf } from '#testing/runner/size'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'
import { canonicalHead } from '../store/blocks.ts'
import { recordBlockLogs, removeBlockLogs } from './record-logs.ts'
import { refusedMaxMs } from './refused-histories.ts'

/* The logs of a monitor equal those of the chain, each once, through reorgs, restarts, floods and the seam of history. */
let harness: Harness
const receivers: WebhookReceiver[] = []

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()))
  await harness?.close()
})

const newWorld = async () => worldOf(harness, await harness.newEntity())

type Place = { blockHash: string; transactionHash: string; logIndex: string }
const placeOf = ({ blockHash, transactionHash, logIndex }: Place) =>
  `${blockHash} ${transactionHash} ${Number(logIndex)}`

/** Places of the logs of an emitter, by the chain. */
async function onChain(address: string): Promise<string[]> {
  const query = { address, topics: [movedTopic], fromBlock: '0x0', toBlock: 'latest' }
  return (await harness.chain().rpc<Place[]>('eth_getLogs', [query])).map(placeOf).toSorted()
}

/** Places of its logs by the API, read page by page. */
async function listed(world: World, address: string): Promise<string[]> {
  const found: string[] = []
  for (let after = ''; ; ) {
    const path = `/v1/w3s/contracts/events?contractAddress=${address}&pageSize=50${after}`
    const { eventLogs } = await world.call('GET', path)
    if (eventLogs.length === 0) return found.toSorted()
    for (const { txHash: transactionHash, ...log } of eventLogs)
      found.push(placeOf({ transactionHash, ...log }))
    after = `&pageAfter=${eventLogs.at(-1).id}`
  }
}

async function untilEqual(world: World, address: string): Promise<string[]> {
  const isEqual = async () => (await listed(world, address)).join() === (await onChain(address)).join()
  await until(isEqual, 'the listed logs are those of the chain')
  return listed(world, address)
}

const monitorOf = async (world: World, address: string) =>
  (await world.call('GET', `/v1/w3s/contracts/monitors?contractAddress=${address}`)).eventMonitors[0]

const untilApplied = ({ database, chain } = harness) =>
  until(async () => {
    const head = await canonicalHead(database, chain().blockchain)
    return head?.number === (await chain().height())
  }, 'all blocks are applied')

/** Number of notified events of an entity by their type. */
const notified = async (world: World) =>
  Object.fromEntries(
    (
      await harness.database.all<{
        type: string
        count: number
      }>(sql`select type, count(*) as count from events
        where entity_id = ${world.tenant.entityId} and type like 'eventLog.%' group by type order by type`)
    ).map(({ type, count }) => [type, count]),
  )

async function receiverOf(world: World): Promise<WebhookReceiver> {
  const receiver = await openWebhookReceiver(world.tenant.http)
  receivers.push(receiver)
  const body = { endpoint: receiver.url, notificationTypes: ['contracts.eventLog'] }
  await world.call('POST', '/v2/notifications/subscriptions', body)
  return receiver
}

it('property 20: removes the logs of a block with it, and reports both by signed webhooks', async () => {
  const world = await newWorld()
  const receiver = await receiverOf(world)
  const emitter = await makeEmitter(world)
  await makeMonitor(world, emitter)
  const txHash = await emit(world, emitter, 2)
  await until(async () => receiver.webhooks().length === 2, 'both logs are reported')
  const logs = (await world.call('GET', '/v1/w3s/contracts/events')).eventLogs
  const shown = receiver.webhooks().map(({ notification }) => notification)
  expect(Object.keys(shown[0]).slice(0, 7)).toEqual([
    ...['contractAddress', 'blockchain', 'txHash', 'userOpHash', 'eventName', 'topics', 'data'],
  ])
  for (const { id, blockHash, blockHeight, blockchain, data, topics, logIndex } of logs)
    expect(shown).toContainEqual({
      contractAddress: emitter,
      blockchain,
      txHash,
      userOpHash: '',
      eventName: 'Moved',
      topics,
      data,
      id,
      blockHash,
      blockHeight,
      logIndex,
      removed: false,
    })
  await harness.chain().reorg(1)
  await until(async () => receiver.webhooks().length === 4, 'the removal is reported')
  expect(await listed(world, emitter)).toEqual([])
  for (const { id } of logs) {
    const about = receiver.webhooks().filter(({ notification }) => notification.id === id)
    expect(about.map(({ notification }) => notification.removed)).toEqual([false, true])
    expect(about[1]!.order).toBeGreaterThan(about[0]!.order)
    expect(about[1]!.notificationType).toBe('contracts.eventLog')
  }
  for (let depth = 1; depth <= (isDeep ? 30 : 3); depth++) {
    for (let count = 1; count <= depth; count++) await emit(world, emitter, count)
    await harness.chain().reorg(depth)
    await emit(world, emitter)
  }
  await untilEqual(world, emitter)
  const { 'eventLog.recorded': recorded, 'eventLog.removed': removed } = await notified(world)
  expect(recorded! - removed!).toBe((await onChain(emitter)).length)
})

it('property 20: a block that is applied again has its logs once, with the contents of the last time', async () => {
  const world = await newWorld()
  const emitter = await makeEmitter(world)
  await makeMonitor(world, emitter)
  const blockchain = harness.chain().blockchain
  const block = (data: `0x${string}`) => ({
    hash: `0x${'ab'.repeat(32)}` as const,
    number: 7,
    timeMs: 1_000,
    logs: [{ address: emitter, topics: [movedTopic], data, logIndex: 0, txHash: `0x${'cd'.repeat(32)}` }],
  })
  const nowMs = harness.clock.nowMs()
  const { database } = harness
  await database.tx((tx) => recordBlockLogs(tx, nowMs, blockchain, block('0x01')))
  await database.tx((tx) => recordBlockLogs(tx, nowMs, blockchain, block('0x01')))
  await database.tx((tx) => removeBlockLogs(tx, nowMs, blockchain, block('0x').hash))
  await database.tx((tx) => recordBlockLogs(tx, nowMs, blockchain, block('0x02')))
  const { eventLogs } = await world.call('GET', '/v1/w3s/contracts/events')
  expect(eventLogs.map(({ data }: { data: string }) => data)).toEqual(['0x02'])
  expect(await notified(world)).toEqual({ 'eventLog.recorded': 2, 'eventLog.removed': 1 })
  const other = await newWorld()
  await expect(other.call('GET', '/v1/w3s/contracts/events')).resolves.toEqual({ eventLogs: [] })
})

it('property 23: history and new blocks meet without a gap and without a repetition', async () => {
  const world = await newWorld()
  const rounds = sizeOf('HISTORY_ROUNDS', { usual: 1, deep: 40 })
  for (let round = 0; round < rounds; round++) {
    const emitter = await makeEmitter(world)
    for (let count = 1; count <= 3; count++) await emit(world, emitter, count)
    await harness.chain().mine(round === 0 ? 70 : 3)
    const emitting = (async () => {
      for (let count = 0; count < 8; count++) await emit(world, emitter)
    })()
    await makeMonitor(world, emitter, { fromBlock: 0 })
    await emitting
    await until(async () => (await monitorOf(world, emitter)).history.isComplete, 'the history is complete')
    expect(await untilEqual(world, emitter)).toHaveLength(14)
    await until(async () => (await monitorOf(world, emitter)).lagBlocks === 0, 'the monitor has caught up')
  }
  expect(await notified(world)).toEqual({ 'eventLog.recorded': 14 * rounds })
})

it('property 23: each log exists once although workers die while they read history and apply blocks', async () => {
  const world = await newWorld()
  const emitter = await makeEmitter(world)
  // More than a worker writes at once.
  await emit(world, emitter, 600)
  await untilApplied()
  await harness.stopEngines()
  await makeMonitor(world, emitter, { fromBlock: 0 })
  const { rpcUrl, blockchain } = harness.chain()
  const open = {
    connection: harness.connection,
    rpcUrl,
    blockchain,
    roles: ['indexer', 'histories'] as const,
  }
  const points = [
    'before-history-commit',
    'after-block-commit',
    'after-history-commit',
    'before-block-commit',
  ] as const
  const chosen = points.slice(0, isDeep ? 4 : 1)
  for (const point of chosen) {
    // The first slice of a span is committed before the worker dies.
    const failpoint = { point, hit: point === 'before-history-commit' ? 2 : 1, action: 'kill' } as const
    await emit(world, emitter)
    const victim = await spawnWorker()
    await victim.open({ ...open, failpoint })
    await victim.start()
    await victim.exited
    await harness.database.run(sql`update event_histories set lease_until = now()`)
    await harness.database.run(sql`delete from chain_leases`)
  }
  harness.startEngines()
  expect(await untilEqual(world, emitter)).toHaveLength(600 + chosen.length)
  expect(await notified(world)).toEqual({ 'eventLog.recorded': 600 + chosen.length })
})

it('property 64: a flood of logs is read as history, and the other monitors of its block do not wait', async () => {
  const [noisy, quiet] = [await newWorld(), await newWorld()]
  const [flooding, calm] = [await makeEmitter(noisy), await makeEmitter(quiet)]
  await makeMonitor(noisy, flooding)
  await makeMonitor(quiet, calm)
  const chain = harness.chain()
  await chain.setAutomine(false)
  const count = sizeOf('FLOOD_LOGS', { usual: 2_100, deep: 15_000 })
  const data = (logs: number) => `0x${logs.toString(16).padStart(64, '0')}`
  const pending = async () => (await chain.rpc<{ pending: string }>('txpool_status')).pending
  const wait = async (to: string, logs: number, waiting: string) => {
    void chain.rpc('eth_sendTransaction', [{ from: chain.outsider, to, data: data(logs), gas: '0x1000000' }])
    await until(async () => (await pending()) === waiting, 'the transaction waits')
  }
  // One after the other: a node gives the same nonce to two at once.
  await wait(flooding, count, '0x1')
  await wait(calm, 1, '0x2')
  await chain.setAutomine(true)
  await chain.mine()
  expect(await untilEqual(quiet, calm)).toHaveLength(1)
  expect(await untilEqual(noisy, flooding)).toHaveLength(count)
  const blocks = await harness.database.all<{
    places: number
  }>(sql`select count(distinct create_date) as places
    from event_logs where contract_address = ${flooding}`)
  expect(blocks[0]!.places).toBeGreaterThan(1)
  expect(await monitorOf(noisy, flooding)).toMatchObject({ lagBlocks: 0 })
})

it('makes as many node calls for a thousand monitors of one chain as for one', async () => {
  const world = await newWorld()
  const chain = harness.chain()
  const emitter = await makeEmitter(world)
  await makeMonitor(world, emitter)
  /** Number of different requests for the contents of blocks while five blocks are applied. */
  const callsOf = async (): Promise<number> => {
    await untilEqual(world, emitter)
    const calls = new Set<string>()
    chain.intercept(async ({ body }) => {
      for (const { method, params } of [JSON.parse(body.toString())].flat())
        if (method === 'eth_getBlockReceipts' || params?.[0]?.blockHash)
          calls.add(method + JSON.stringify(params))
      return 'forward'
    })
    for (let count = 0; count < 5; count++) await emit(world, emitter)
    await untilEqual(world, emitter)
    chain.intercept(undefined)
    return calls.size
  }
  expect(await callsOf()).toBe(5)
  const monitors = sizeOf('MONITORS', { usual: 20, deep: 1_000 })
  const others = await Promise.all([makeEmitter(world), makeEmitter(world)])
  for (let index = 0; index < monitors; index++)
    await makeMonitor(world, others[index % 2]!, { eventSignature: `Event${index}()` })
  expect(await callsOf()).toBe(5)
})

it('reads history block by block where a node refuses logs, with an alarm, once the blocks of a public chain are final', async () => {
  const publicly = await openHarness({ node: async () => ({ local: false }) })
  try {
    const [world, chain] = [worldOf(publicly), publicly.chain()]
    const emitter = await makeEmitter(world)
    for (let count = 0; count < 4; count++) await emit(world, emitter, 2)
    // The blocks before the monitor are its history, unless they are applied after it.
    await untilApplied(publicly)
    const raised = () => alarmCounts().get('history-refused')!
    const shown = async (name: string) =>
      (await readMetrics(publicly)).get(`bezant_event_histories${name}{blockchain="${chain.blockchain}"}`)!
    const before = raised()
    let refusals = 0
    chain.intercept(async ({ body }) => {
      const calls = [JSON.parse(body.toString())].flat()
      if (!calls.some(({ method, params }) => method === 'eth_getLogs' && params[0].fromBlock))
        return 'forward'
      publicly.clock.moveMs(refusedMaxMs)
      const isShown = async () =>
        (await shown('')) === 1 && (await shown('_refused_seconds')) >= refusedMaxMs / 1_000
      if (++refusals === 2) await until(isShown, 'the refusal is measured')
      const error = { code: -32602, message: 'eth_getLogs is limited' }
      return { body: JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))) }
    })
    await makeMonitor(world, emitter, { fromBlock: (await chain.height()) - 3 })
    await emit(world, emitter, 2)
    await until(async () => (await listed(world, emitter)).length === 2, 'the new logs are listed')
    expect((await monitorOf(world, emitter)).history).toMatchObject({ isComplete: false })
    // The node reports blocks as finalized that are 64 below its head.
    await chain.mine(70)
    await until(async () => (await monitorOf(world, emitter)).history.isComplete, 'the history is complete')
    expect(await listed(world, emitter)).toHaveLength(10)
    expect(raised()).toBe(before + 1)
    const isOver = async () => (await shown('')) + (await shown('_refused_seconds')) === 0
    await until(isOver, 'no history is open')
  } finally {
    await publicly.close()
  }
})

it('an error of the database does not count as a refusal by a node, whatever its code', async () => {
  const tenant = await harness.newEntity()
  const world = worldOf(harness, tenant)
  const chain = harness.chain()
  const emitter = await makeEmitter(world)
  await emit(world, emitter, 2)
  await untilApplied()
  const owner = openAsOwner(harness.connection)
  const fromBlock = await chain.height()
  await owner.run(sql`create function refuse_logs() returns trigger language plpgsql as
    $$ begin raise exception 'no log is kept' using errcode = 'ZZ999'; end $$`)
  await owner.run(sql`create trigger refuse_logs before insert on event_logs for each row
    when (new.contract_address = ${raw(`'${emitter}'`)}) execute function refuse_logs()`)
  try {
    await makeMonitor(world, emitter, { fromBlock })
    const failed = () =>
      harness.database.maybe<{
        refusedSince: string | null
      }>(sql`select h.refused_since from event_histories h
        join deferrals d on d.entity_id = h.entity_id and d.key = h.id::text
        where h.entity_id = ${tenant.entityId} and h.lease_until is null`)
    let found: { refusedSince: string | null } | undefined
    await until(async () => (found = await failed()) !== undefined, 'the history is released')
    expect(found).toEqual({ refusedSince: null })
  } finally {
    await owner.run(sql`drop function refuse_logs() cascade`)
    await owner.close()
  }
  await untilEqual(world, emitter)
})
