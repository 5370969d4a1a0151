import type { Chain } from '#chains/chain'
import type { BlockRef, PlacedLog } from '#chains/facets/blocks'
import { contractsOn } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
import type { Hex } from '#lib/hex'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { recordEventLogs } from './record-logs.ts'
import { advanceHistory, type EventHistory, lockBlocksAt, lockHistory, setSpan } from './store/histories.ts'

/** Maximum number of logs that one `tx` writes. */
const sliceMax = 500
/** A span is doubled while answers are small, and halved when they are large or refused. */
const spanMax = 2_048
const fewLogs = 500
const manyLogs = 4_000

type SpanLogs = { logs: PlacedLog[]; last: BlockRef }

/** The message with which nodes refused the logs of a range. */
export type Refusal = string

/**
 * Reads the next span of a history, of final blocks only, and writes its logs and the progress. Returns why nodes refused the
 * range, even when it was a single block that could be read otherwise.
 */
export async function readSpan(
  ctx: EngineCtx,
  chain: Chain,
  history: EventHistory & { toBlock: number },
  finalTo: number,
): Promise<Refusal | undefined> {
  const { nextBlock, toBlock, span } = history
  const to = Math.min(toBlock, finalTo, nextBlock + span - 1)
  const half = Math.max(1, (to - nextBlock + 1) >> 1)
  const { read, refusal } = await answerOf(chain, history, to).catch(async (error) => {
    await setSpan(ctx.database, history, half)
    throw error
  })
  if (!read) {
    await setSpan(ctx.database, history, half)
    return refusal
  }
  const { logs, last } = read
  const next = logs.length < fewLogs ? Math.min(span * 2, spanMax) : logs.length > manyLogs ? half : span
  let at = 0
  for (; logs.length - at > sliceMax; at += sliceMax)
    if (!(await writeSlice(ctx, history, logs.slice(at, at + sliceMax), last))) return refusal
  await writeSlice(ctx, history, logs.slice(at), last, (tx) =>
    advanceHistory(tx, history, { nextBlock: to + 1, timeMs: last.timeMs, span: next }),
  )
  failpoint('after-history-commit')
  return refusal
}

type SpanAnswer = { read: SpanLogs | undefined; refusal: Refusal | undefined }

/** Nothing is read when nodes refuse a range of this size. A single block is then read whole, as its indexing did. */
async function answerOf(chain: Chain, history: EventHistory, to: number): Promise<SpanAnswer> {
  const { contractAddress: address, nextBlock: from } = history
  const topic = history.topic as Hex
  const answer = await contractsOn(chain)
    .logHistory({ address, topic, from, to })
    .catch((error: Error) => {
      if (from < to) throw error
      return { kind: 'refused', message: error.message } as const
    })
  if (answer.kind === 'read') return { read: answer, refusal: undefined }
  const refusal = answer.message
  if (from < to) return { read: undefined, refusal }
  const block = await chain.blocks.byNumber(to)
  if (!block) throw new Error(`the node has no block ${to}, and refuses its logs: ${refusal}`)
  const { hash: blockHash, number: blockNumber, timeMs: blockTimeMs } = block
  const logs = block.logs.filter((log) => log.address === address && log.topics[0] === topic)
  const placed = logs.map((log) => ({ ...log, blockHash, blockNumber, blockTimeMs }))
  return { read: { logs: placed, last: block }, refusal }
}

/** Writes logs in one `tx`. False when the history is another worker's by now, or its monitor was deleted. */
const writeSlice = (
  ctx: EngineCtx,
  history: EventHistory,
  logs: readonly PlacedLog[],
  last: BlockRef,
  finish?: (tx: Db) => Promise<unknown>,
): Promise<boolean> =>
  ctx.database.tx(async (tx) => {
    if (!(await lockHistory(tx, history))) return false
    await requireInChain(tx, history.blockchain, logs, last)
    const { entityId, monitorId, blockchain, contractAddress } = history
    const place = { entityId, monitorId, blockchain, contractAddress }
    await recordEventLogs(
      tx,
      ctx.clock.nowMs(),
      logs.map((log) => ({ ...log, ...place })),
    )
    await finish?.(tx)
    failpoint('before-history-commit')
    return true
  })

/** Throws when the index has other blocks at these heights than the node. Older blocks are not stored. */
async function requireInChain(
  tx: Db,
  blockchain: string,
  logs: readonly PlacedLog[],
  last: BlockRef,
): Promise<void> {
  const read = new Map<number, string>(logs.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  read.set(last.number, last.hash)
  const stored = await lockBlocksAt(tx, blockchain, [...read.keys()])
  for (const { number } of stored)
    if (!stored.some((row) => row.number === number && row.canonical && row.hash === read.get(number)))
      throw new Error(`${blockchain}: the logs of block ${number} are those of another block`)
}
