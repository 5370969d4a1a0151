import type { Block, ChainLog } from '#chains/facets/blocks'
import { webhookEndpoints } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { type Change, recordChanges } from '#runtime/record/store'
import { insertHistories } from './store/histories.ts'
import { insertEventLogs, type LogOfEntity, type NewEventLog, removeEventLogs } from './store/logs.ts'
import { monitorsOfEvents, type WatchedEvent } from './store/monitors.ts'

/**
 * Budget of the logs that are written together with a block, for all entities: the rest is read as history, so that a contract
 * that floods its events delays no block. A log costs its data and this much, and its delivery to each endpoint.
 */
const blockBytesMax = 4 * 1024 * 1024
const logBytes = 2_048
const deliveryBytes = 600

/** Writes the monitored logs of a block, in the `tx` that applies it. */
export async function recordBlockLogs(
  tx: Db,
  nowMs: number,
  blockchain: string,
  block: Pick<Block, 'hash' | 'number' | 'timeMs' | 'logs'>,
): Promise<void> {
  const byEvent = eventsIn(block.logs)
  if (byEvent.size === 0) return
  const events = [...byEvent.values()]
  const monitors = await monitorsOfEvents(tx, blockchain, events)
  if (monitors.length === 0) return
  const endpoints = await webhookEndpoints(tx, [...new Set(monitors.map(({ entityId }) => entityId))])
  const watched = monitors.map((monitor) => ({
    ...monitor,
    logs: byEvent.get(nameOf(monitor))!.logs,
    endpoints: endpoints.get(monitor.entityId) ?? 0,
  }))
  const { written, deferred } = withinBudget(watched)
  const at = { blockchain, blockHash: block.hash, blockNumber: block.number, blockTimeMs: block.timeMs }
  const rows = written.flatMap(({ entityId, monitorId, logs }) =>
    logs.map(({ address, ...log }) => ({ ...log, ...at, entityId, monitorId, contractAddress: address })),
  )
  await recordEventLogs(tx, nowMs, rows)
  const { number } = block
  const ranges = deferred.map(({ entityId, monitorId }) => {
    return { entityId, monitorId, fromBlock: number, toBlock: number }
  })
  await insertHistories(tx, nowMs, blockchain, ranges)
}

type ContractEvent = { address: string; topic: string }
type Watched = WatchedEvent & { logs: readonly ChainLog[]; endpoints: number }

const nameOf = ({ address, topic }: ContractEvent) => `${address} ${topic}`

function eventsIn(logs: readonly ChainLog[]): Map<string, ContractEvent & { logs: ChainLog[] }> {
  const found = new Map<string, ContractEvent & { logs: ChainLog[] }>()
  for (const log of logs) {
    const [topic] = log.topics
    if (topic === undefined) continue
    const event = { address: log.address, topic }
    const known = found.get(nameOf(event))
    if (known) known.logs.push(log)
    else found.set(nameOf(event), { ...event, logs: [log] })
  }
  return found
}

/** Serves monitors with few logs first. */
function withinBudget(watched: readonly Watched[]): { written: Watched[]; deferred: Watched[] } {
  const cost = ({ logs, endpoints }: Watched) =>
    logs.reduce((sum, { data }) => sum + logBytes + data.length / 2 + endpoints * deliveryBytes, 0)
  const costs = new Map(watched.map((each) => [each, cost(each)]))
  const ordered = [...watched].sort((one, other) => costs.get(one)! - costs.get(other)!)
  let spent = 0
  let count = 0
  for (const each of ordered) {
    spent += costs.get(each)!
    if (spent > blockBytesMax) break
    count += 1
  }
  return { written: ordered.slice(0, count), deferred: ordered.slice(count) }
}

/** Writes logs and notifies of those that are new. */
export async function recordEventLogs(tx: Db, nowMs: number, rows: readonly NewEventLog[]): Promise<void> {
  await recordChanges(tx, nowMs, changesOf(await insertEventLogs(tx, nowMs, rows), 'eventLog.recorded'))
}

/** Removes the logs of a block that left the chain, and notifies of it. */
export async function removeBlockLogs(
  tx: Db,
  nowMs: number,
  blockchain: string,
  blockHash: string,
): Promise<void> {
  await recordChanges(
    tx,
    nowMs,
    changesOf(await removeEventLogs(tx, nowMs, blockchain, blockHash), 'eventLog.removed'),
  )
}

const changesOf = (logs: readonly LogOfEntity[], type: string): Change[] =>
  logs.map(({ entityId, id }) => ({ entityId, actor: 'indexer', type, resourceId: id }))
