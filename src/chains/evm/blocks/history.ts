/**
 * Reads the logs of one event over a range of old blocks. The endpoints are used through a connection of their own: an answer
 * that is too large or too slow for a node says nothing about its health.
 */
import { createHash } from 'node:crypto'
import type { BlockRef, LogHistory, LogQuery, PlacedLog } from '../../facets/blocks.ts'
import { isLimited } from '../rpc/endpoint-faults.ts'
import type { Endpoints } from '../rpc/endpoints.ts'
import { hash, readInteger, toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { blockRefOf } from './blocks.ts'
import { logFrom } from './receipts.ts'

type RawLog = Record<string, unknown>
type RawHeader = Parameters<typeof blockRefOf>[0]

const limits = { timeoutMs: 10_000, answerBytesMax: 32 * 1024 * 1024 }
const headersMax = 100

/** The logs of the range, confirmed by as many endpoints as an irreversible conclusion needs. */
export async function readHistory(rpc: Endpoints, chainId: number, query: LogQuery): Promise<LogHistory> {
  try {
    const logs = await readLogs(rpc, chainId, query)
    if (rpc.agreeing > 1) {
      const ask = async (one: Rpc) => digestOf(await readLogs(one, chainId, query))
      const { verdict, said } = await rpc.agreedOn(digestOf(logs), ask)
      if (verdict !== 'agreed')
        throw new NodeUnreachable(`the endpoints do not agree on old logs: ${said.join(', ')}`)
    }
    return { kind: 'read', ...logs }
  } catch (error) {
    // A rate limit says nothing about the range.
    if (error instanceof RpcError && !isLimited(error))
      return { kind: 'refused', message: error.message.slice(0, 300) }
    throw error
  }
}

type Logs = { logs: PlacedLog[]; last: BlockRef }

const digestOf = ({ logs, last }: Logs) =>
  `0x${createHash('sha256').update(last.hash).update(JSON.stringify(logs)).digest('hex')}`

/** The last block comes from the same node as the logs: one that has not reached it would leave logs out. */
async function readLogs(rpc: Rpc, chainId: number, query: LogQuery): Promise<Logs> {
  const { address, topic, from, to } = query
  const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
  const [id, raw, given] = await rpc.batch<unknown>(
    [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getBlockByNumber', params: [toQuantity(to), false] },
      { method: 'eth_getLogs', params: [{ address, topics: [topic], ...range }] },
    ],
    limits,
  )
  for (const answer of [id, raw, given]) if (answer instanceof RpcError) throw answer
  if (readInteger(id, 'chain id') !== chainId)
    throw new NodeUnreachable(`${rpc.host} is a node of another chain`)
  if (!raw) throw new NodeUnreachable(`the node has no block ${to}`)
  if (!Array.isArray(given)) throw new NodeUnreachable("the node's logs are not a list")
  const last = blockRefOf(raw as RawHeader)
  if (last.number !== to) throw new NodeUnreachable(`the node gave block ${last.number} in place of ${to}`)
  const logs = (given as RawLog[]).map((each) => placed(each, query))
  requireOrder(logs)
  if (logs.some(({ blockNumber, blockHash }) => blockNumber === to && blockHash !== last.hash))
    throw new NodeUnreachable("the node's logs are of another block than it has")
  return { logs: await withTimes(rpc, given as RawLog[], logs), last }
}

function placed(raw: RawLog, { address, topic, from, to }: LogQuery): Omit<PlacedLog, 'blockTimeMs'> {
  const blockNumber = readInteger(raw?.['blockNumber'], 'log block number')
  const txHash = hash(raw['transactionHash'], 'log transaction')
  const log = logFrom(raw, readInteger(raw['logIndex'], 'log index'), txHash)
  const fits =
    raw['removed'] !== true &&
    blockNumber >= from &&
    blockNumber <= to &&
    log.address === address &&
    log.topics[0] === topic
  if (!fits) throw new NodeUnreachable('the node gave a log that was not asked for')
  return { ...log, blockNumber, blockHash: hash(raw['blockHash'], 'log block') }
}

function requireOrder(logs: readonly Omit<PlacedLog, 'blockTimeMs'>[]): void {
  const isOrdered = logs.every((log, index) => {
    const before = logs[index - 1]
    if (!before || log.blockNumber > before.blockNumber) return true
    return (
      log.blockNumber === before.blockNumber &&
      log.blockHash === before.blockHash &&
      log.logIndex > before.logIndex
    )
  })
  if (!isOrdered) throw new NodeUnreachable("the node's logs are in no order")
}

/** Takes the times of blocks from the logs, or from the headers where a node does not repeat them in logs. */
async function withTimes(
  rpc: Rpc,
  raws: readonly RawLog[],
  logs: readonly Omit<PlacedLog, 'blockTimeMs'>[],
): Promise<PlacedLog[]> {
  if (raws.every((raw) => raw['blockTimestamp'] != null))
    return logs.map((log, index) => ({
      ...log,
      blockTimeMs: readInteger(raws[index]!['blockTimestamp'], 'time of a log') * 1_000,
    }))
  const hashes = [...new Set(logs.map(({ blockHash }) => blockHash))]
  const times = new Map<string, number>()
  for (let at = 0; at < hashes.length; at += headersMax) {
    const some = hashes.slice(at, at + headersMax)
    const calls = some.map((blockHash) => ({ method: 'eth_getBlockByHash', params: [blockHash, false] }))
    for (const raw of await rpc.batch<RawHeader | null>(calls, limits)) {
      if (raw instanceof RpcError) throw raw
      if (!raw) throw new NodeUnreachable('the node has no block of its own log')
      const { hash: blockHash, timeMs } = blockRefOf(raw)
      times.set(blockHash, timeMs)
    }
  }
  return logs.map((log) => {
    const blockTimeMs = times.get(log.blockHash)
    if (blockTimeMs === undefined)
      throw new NodeUnreachable('the node gave another block than that of its log')
    return { ...log, blockTimeMs }
  })
}
