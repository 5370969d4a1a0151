import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { raiseAlarm } from '#runtime/log/alarms'
import type { Log } from '#runtime/log/log'
import { type Follower, followBlocks } from './follower.ts'
import {
  type ChainJournal,
  createChainJournal,
  type HeadEntry,
  type JournalEntry,
  type MiningMode,
} from './journal.ts'
import { poolMined } from './mining.ts'
import type { LocalNode } from './node.ts'
import { createGate, type Gate } from './read-write-lock.ts'
import { call, callMany } from './rpc.ts'
import type { Settings } from './settings.ts'
import {
  commitState,
  dumpState,
  keepOnly,
  neededStates,
  type SavedState,
  type StateFiles,
  sizeOf,
  stateFilesIn,
} from './state-file.ts'

/** One node and its files, from its start to its end. */
export type Session = {
  node: LocalNode
  files: StateFiles
  /** Whether the files outlive this process: then they are synced, and brought up to date while the chain is quiet. */
  isDurable: boolean
  gate: Gate
  settings: Settings
  follower: Follower
  journal: ChainJournal
  /** The states that exist, oldest first; the journal belongs to the last one. */
  states: readonly SavedState[]
  /** The last block of the state that the node started with, which it cannot reorganise. */
  loadedTo: number
  /** The mining mode set by a request; undefined while none has set it. */
  mining: MiningMode | undefined
  /** Unmined transactions that the node signed: their raw bytes may be no valid transaction. */
  unmined: Map<string, JournalEntry>
  lastChangeMs: number
  lastDumpMs: number
  dumpCostMs: number
  isDumping: boolean
  /** Whether the last attempt to write the state failed. */
  isUnkept: boolean
  isAbandoned: boolean
  log: Log
  /** Closes the files without a dump. */
  abandon(): void
}

type SessionStart = Pick<
  Session,
  'node' | 'files' | 'isDurable' | 'settings' | 'journal' | 'states' | 'loadedTo' | 'mining' | 'log'
> & {
  lastBlock: number
  entries: readonly JournalEntry[]
}

const checkEveryMs = 1000
const quietMs = 5000
const maxJournalBytes = 64 * 1024 * 1024
/** A node mines the blocks of its journals again when it starts. */
const maxJournalBlocks = 200
const maxJournalChanges = 2000
/** Maximum pending transactions for a dump: each must be fetched and written again, so a burst is mined first. */
const maxWaiting = 500
/** Maximum share of the time spent on dumps, which block the node. */
const dumpsPerTime = 1 / 20
/** Measured: about 25 ms per megabyte of state. */
const dumpMsPerByte = 25e-6

export function createSession({ lastBlock, entries, ...start }: SessionStart): Session {
  const now = performance.now()
  const unmined = new Map<string, JournalEntry>()
  for (const entry of entries) {
    if (entry.kind === 'sent') unmined.set(entry.hash, entry)
    else if (entry.kind === 'block') for (const hash of entry.txs) unmined.delete(hash)
  }
  const follower = followBlocks(start.node.url, lastBlock, (block) => {
    session.journal.append(block)
    session.settings.blockMined()
    for (const hash of block.txs) session.unmined.delete(hash)
  })
  const timer = setInterval(() => void dumpWhenDue(session), checkEveryMs)
  timer.unref()
  const session: Session = {
    ...start,
    gate: createGate(),
    follower,
    unmined,
    lastChangeMs: now,
    lastDumpMs: now,
    dumpCostMs: sizeOf(start.files.state(newestOf(start))) * dumpMsPerByte,
    isDumping: false,
    isUnkept: false,
    isAbandoned: false,
    abandon: () => {
      session.isAbandoned = true
      clearInterval(timer)
      follower.stop()
      session.journal.close()
    },
  }
  return session
}

const newestOf = ({ states }: Pick<Session, 'states'>) => states.at(-1)!.generation

/**
 * Writes the current state; the caller has the gate alone. The new journal begins with the contents of the pool.
 * `isReplaced`: the journals do not lead to this state, so it stands alone.
 */
export async function dumpSession(session: Session, { isReplaced = false } = {}): Promise<void> {
  const { node, files, isDurable, follower, settings, log } = session
  const startedMs = performance.now()
  const generation = newestOf(session) + 1
  await follower.flush()
  const pool = await poolEntries(session)
  const number = await dumpState(node.url, files.state(generation), isDurable)
  const block = { number, hash: await hashOf(node.url, number) }
  const offsetS = Number(await call(node.url, 'evm_increaseTime', [0]))
  const nextBaseFee = await nextBaseFeeOf(node.url)
  const kept = { block, offsetS, nextBaseFee, settings: settings.list(), mining: session.mining }
  const head: HeadEntry = { kind: 'head', ...kept }
  const journal = createChainJournal(files.journal(generation), [head, ...pool], isDurable)
  await follower.restart(number, () => {
    commitState(files.state(generation), isDurable)
    session.journal.close()
    session.journal = journal
  })
  const states = [...(isReplaced ? [] : session.states), { generation, block: number }]
  const needed = neededStates(states, number)
  session.states = states.filter((state) => needed.includes(state.generation))
  keepOnly(files.directory, needed)
  session.isUnkept = false
  session.lastDumpMs = performance.now()
  session.dumpCostMs = session.lastDumpMs - startedMs
  log.debug({ block: number, tookMs: Math.round(session.dumpCostMs) }, 'Wrote the state of a local chain')
}

/** Returns the transactions in the pool, which the node's state lacks and which begin the new journal. */
async function poolEntries({ node, unmined }: Session): Promise<JournalEntry[]> {
  type TxPool = Record<'pending' | 'queued', Record<string, Record<string, { hash: string }>>>
  const pool = await call<TxPool>(node.url, 'txpool_content')
  const waiting = [pool.pending, pool.queued].flatMap((part) => Object.values(part).flatMap(Object.values))
  const hashes = waiting.map(({ hash }) => hash)
  const signed = hashes.filter((hash) => !unmined.has(hash))
  const answers = await callMany(
    node.url,
    signed.map((hash) => ({ method: 'eth_getRawTransactionByHash', params: [hash] })),
  )
  const txs = answers.map(({ result }) => result).filter((raw): raw is string => typeof raw === 'string')
  const sent = hashes.map((hash) => unmined.get(hash)).filter((entry) => entry !== undefined)
  const atS = Math.floor(Date.now() / 1000)
  return [...(txs.length > 0 ? [{ kind: 'raw', atS, txs } as const] : []), ...sent]
}

async function dumpWhenDue(session: Session): Promise<void> {
  const { journal, gate, node } = session
  const now = performance.now()
  const sinceDumpMs = now - session.lastDumpMs
  if (session.isDumping || sinceDumpMs < session.dumpCostMs / dumpsPerTime) return
  const isQuiet =
    session.isDurable &&
    journal.changes() > 0 &&
    now - session.lastChangeMs > quietMs &&
    sinceDumpMs > quietMs
  const isLong = journal.blocks() > maxJournalBlocks || journal.changes() > maxJournalChanges
  const isFull = journal.sizeBytes() > maxJournalBytes
  if (!isQuiet && !isLong && !isFull) return
  session.isDumping = true
  try {
    const pool = await call<{ pending: string }>(node.url, 'txpool_status')
    if (isFull || Number(pool.pending) <= maxWaiting) await gate.alone(() => dumpSession(session))
  } catch (error) {
    session.lastDumpMs = performance.now()
    if (!session.isAbandoned) reportUnkept(session, error)
  } finally {
    session.isDumping = false
  }
}

/** Raises the alarm once, until the state is written again: the next attempt follows in seconds. */
function reportUnkept(session: Session, error: unknown): void {
  if (session.isUnkept) {
    session.log.debug({ err: error }, 'the state of a local chain still cannot be written')
    return
  }
  session.isUnkept = true
  raiseAlarm(
    session.log,
    'chain-unkept',
    { err: error },
    'the state of a local chain cannot be written: give its directory back, or the chain begins anew with the next start',
  )
}

/**
 * Copies the files that give this chain, as it is after the last answered request, to a new directory. No state is written for it:
 * the newest blocks stay in the journal, where a node that starts on the copy mines them again and so can reorganise them.
 */
export async function copySession(session: Session, directory: string): Promise<void> {
  const { gate, node, follower, files, states } = session
  const copy = stateFilesIn(directory)
  await gate.alone(async () => {
    await poolMined(node.url)
    await follower.flush()
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const [first = 0, last = 0] = [states[0]?.generation, states.at(-1)?.generation]
    const journals = Array.from({ length: last - first + 1 }, (_, index) => first + index)
    const pairs: [string, string][] = [
      [files.genesis, copy.genesis],
      ...states
        .filter(({ generation }) => generation > 0)
        .map(({ generation }): [string, string] => [files.state(generation), copy.state(generation)]),
      ...journals.map((generation): [string, string] => [
        files.journal(generation),
        copy.journal(generation),
      ]),
    ]
    for (const [from, to] of pairs) await copyFile(from, to, constants.COPYFILE_FICLONE)
  })
}

const slowDumpMs = 1500
const fewBlocks = 300

/** Persists, unless a replay of the journal is faster than a dump, then closes the files. */
export async function closeSession(session: Session): Promise<void> {
  const { journal, gate, follower, log } = session
  const isSlow =
    session.dumpCostMs > slowDumpMs && journal.blocks() < fewBlocks && journal.changes() < fewBlocks
  const isDirty = () => session.journal.changes() > 0 || session.journal.blocks() > 0
  try {
    await gate.alone(async () => {
      await follower.flush()
      if (session.isDurable && isDirty() && !isSlow) await dumpSession(session)
    })
  } catch (error) {
    log.warn({ err: error }, 'The last state of a local chain was not written; its journal is kept')
  } finally {
    session.abandon()
  }
}

/**
 * Returns the next block's base fee: after a revert the node continues with its current fee, which its state lacks.
 * Does not use `anvil_nodeInfo`, which deadlocks the node when a block is mined at the same moment.
 */
async function nextBaseFeeOf(nodeUrl: string): Promise<string> {
  const { baseFeePerGas } = await call<{ baseFeePerGas: string[] }>(nodeUrl, 'eth_feeHistory', [
    '0x1',
    'latest',
    [],
  ])
  return baseFeePerGas.at(-1)!
}

async function hashOf(nodeUrl: string, number: number): Promise<string> {
  const params = [`0x${number.toString(16)}`, false]
  return (await call<{ hash: string }>(nodeUrl, 'eth_getBlockByNumber', params)).hash
}
