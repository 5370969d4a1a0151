/**
 * Replays a journal onto the state of its generation. Mines each block again from its recorded transactions and time,
 * which gives the same hashes, since local blocks are otherwise deterministic. Then sends acknowledged transactions again
 * whose block was not recorded.
 */
import type { Log } from '#runtime/log/log'
import type { BlockEntry, HeadEntry, JournalEntry, MiningMode } from './journal.ts'
import { call, callMany, type NodeCall } from './rpc.ts'
import type { Settings } from './settings.ts'

type Replayed = {
  offsetS: number
  /** The mining mode set by a request; undefined when none has set it. */
  mining: MiningMode | undefined
  /** Number of the last block in the journal, or else in the state. */
  lastBlock: number
}

/** `isExpected`: acknowledged, and to be sent again if no recorded block contains it (`wasMined`). */
type RecordedTransaction = { call: NodeCall; atS: number; isExpected: boolean; wasMined: boolean }

const callsPerRequest = 500
const setBaseFee = 'anvil_setNextBlockBaseFeePerGas'

/** Replays the entries. The node must not mine by itself; `minesAtOnce` is its mode unless a request has set one. */
export async function replayJournal(
  nodeUrl: string,
  entries: readonly JournalEntry[],
  settings: Settings,
  minesAtOnce: boolean,
  log: Log,
): Promise<Replayed> {
  const sources = await findSources(nodeUrl, entries)
  const done: Replayed = { offsetS: 0, mining: undefined, lastBlock: await height(nodeUrl) }
  let last: BlockEntry | undefined
  for (const entry of entries) {
    if (entry.kind === 'head') {
      await requireBlock(nodeUrl, entry)
      done.offsetS = entry.offsetS
      done.mining = entry.mining
      if (entry.nextBaseFee) await call(nodeUrl, setBaseFee, [entry.nextBaseFee])
      for (const setting of entry.settings) await applyAdmin(nodeUrl, setting, settings, log)
    } else if (entry.kind === 'admin') {
      await applyAdmin(nodeUrl, entry, settings, log)
    } else if (entry.kind === 'gasLimit') {
      await setGasLimit(nodeUrl, entry.gasLimit)
    } else if (entry.kind === 'mining') {
      done.mining = { automine: entry.automine, intervalS: entry.intervalS }
    } else if (entry.kind === 'block' && entry.number === done.lastBlock + 1) {
      await mineAgain(nodeUrl, entry, sources, settings)
      done.offsetS = entry.offsetS
      done.lastBlock = entry.number
      last = entry
    }
  }
  const isSame = last === undefined || (await blockOf(nodeUrl, last.number))?.hash === last.hash
  if (!isSame) {
    log.warn({ block: last?.number }, 'A local chain was played back with other block hashes than before')
    await expectUnmined(nodeUrl, sources, entries)
  }
  await sendLeftOvers(nodeUrl, sources, done, done.mining?.automine ?? minesAtOnce)
  // The replay moved the node's clock to the past.
  await call(nodeUrl, 'evm_setTime', [Math.floor(Date.now() / 1000) + done.offsetS])
  for (const pending of settings.pending())
    await call(nodeUrl, pending.method, pending.params).catch(() => {})
  return done
}

/** The replay of earlier journals gave other blocks than those of the state that follows them. */
export class DifferentBlocks extends Error {}

async function requireBlock(nodeUrl: string, { block }: HeadEntry): Promise<void> {
  if (block === undefined || (await blockOf(nodeUrl, block.number))?.hash === block.hash) return
  throw new DifferentBlocks(`block ${block.number} of a local chain was played back with another hash`)
}

/** Returns every transaction of the journal by its hash, in the order of sending. The node computes the hashes. */
async function findSources(
  nodeUrl: string,
  entries: readonly JournalEntry[],
): Promise<Map<string, RecordedTransaction>> {
  const raws = entries.flatMap((entry) => (entry.kind === 'raw' ? entry.txs : []))
  const hashes = new Map<string, string>()
  for (let start = 0; start < raws.length; start += callsPerRequest) {
    const part = raws.slice(start, start + callsPerRequest)
    const answers = await callMany(
      nodeUrl,
      part.map((raw) => ({ method: 'web3_sha3', params: [raw] })),
    )
    answers.forEach((answer, index) => {
      hashes.set(part[index]!, String(answer.result))
    })
  }
  const sources = new Map<string, RecordedTransaction>()
  const acknowledged = countAcknowledged(entries)
  for (const entry of entries) {
    if (entry.kind === 'sent') {
      const sent = { method: 'eth_sendTransaction', params: [entry.tx] }
      sources.set(entry.hash, { call: sent, atS: entry.atS, isExpected: true, wasMined: false })
    } else if (entry.kind === 'raw') {
      for (const raw of entry.txs) {
        const isExpected = (acknowledged.get(raw) ?? 0) > 0
        const sent = { method: 'eth_sendRawTransaction', params: [raw] }
        const hash = hashes.get(raw)!
        if (!sources.has(hash)) sources.set(hash, { call: sent, atS: entry.atS, isExpected, wasMined: false })
      }
    }
  }
  return sources
}

/** Counts how often each signed transaction was sent without a refusal; the same bytes may have been sent many times. */
function countAcknowledged(entries: readonly JournalEntry[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const entry of entries) {
    if (entry.kind !== 'raw' && entry.kind !== 'refused') continue
    const step = entry.kind === 'raw' ? 1 : -1
    for (const raw of entry.txs) counts.set(raw, (counts.get(raw) ?? 0) + step)
  }
  return counts
}

async function applyAdmin(nodeUrl: string, admin: NodeCall, settings: Settings, log: Log): Promise<void> {
  settings.note(admin.method, admin.params)
  await call(nodeUrl, admin.method, admin.params).catch((error) =>
    log.debug(
      { err: error, method: admin.method },
      'A request was refused again while a local chain was played back',
    ),
  )
}

export async function setGasLimit(nodeUrl: string, gasLimit: string): Promise<void> {
  await call(nodeUrl, 'evm_setBlockGasLimit', [gasLimit])
}

async function mineAgain(
  nodeUrl: string,
  block: BlockEntry,
  sources: Map<string, RecordedTransaction>,
  settings: Settings,
): Promise<void> {
  const calls: NodeCall[] = [{ method: setBaseFee, params: [block.baseFee] }]
  for (const hash of block.txs) {
    const source = sources.get(hash)
    if (!source) continue
    calls.push(source.call)
    source.isExpected = false
    source.wasMined = true
  }
  // One after the other: the node orders equal fees by arrival, and may execute the calls of a batch in any order.
  await callMany(nodeUrl, calls.slice(0, 2))
  for (const { method, params } of calls.slice(2)) await call(nodeUrl, method, params).catch(() => {})
  await mineAt(nodeUrl, block.timestampS)
  settings.blockMined()
}

/**
 * Mines a block with exactly this time. The node accepts a time before that of its last block only once its clock is set
 * back, and the block names the time again: the clock goes on, and a second may end between the two requests.
 */
async function mineAt(nodeUrl: string, timestampS: number): Promise<void> {
  try {
    await call(nodeUrl, 'evm_mine', [timestampS])
  } catch {
    await call(nodeUrl, 'evm_setTime', [timestampS])
    await call(nodeUrl, 'evm_mine', [timestampS])
  }
}

/** Marks transactions that are not on the chain to be sent again, after a replay that gave other blocks. */
async function expectUnmined(
  nodeUrl: string,
  sources: Map<string, RecordedTransaction>,
  entries: readonly JournalEntry[],
): Promise<void> {
  const mined = new Set<string>()
  for (const entry of entries) {
    if (entry.kind !== 'block') continue
    for (const hash of (await blockOf(nodeUrl, entry.number))?.transactions ?? []) mined.add(hash)
  }
  for (const [hash, source] of sources) {
    if (source.wasMined) source.isExpected = !mined.has(hash)
  }
}

async function sendLeftOvers(
  nodeUrl: string,
  sources: Map<string, RecordedTransaction>,
  { offsetS }: Replayed,
  minesAtOnce: boolean,
): Promise<void> {
  for (const source of sources.values()) {
    if (!source.isExpected) continue
    const sent = await call(nodeUrl, source.call.method, source.call.params).catch(() => undefined)
    if (!minesAtOnce || sent === undefined) continue
    const pool = await call<{ pending: string }>(nodeUrl, 'txpool_status')
    if (Number(pool.pending) > 0) await mineAt(nodeUrl, source.atS + offsetS)
  }
}

async function height(nodeUrl: string): Promise<number> {
  return Number(await call(nodeUrl, 'eth_blockNumber'))
}

async function blockOf(nodeUrl: string, number: number) {
  type ReplayedBlock = { hash: string; transactions: string[] } | null
  return call<ReplayedBlock>(nodeUrl, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
}
