/**
 * Keeps a local chain in a directory: a state file and a journal of everything sent since. A request is in the journal
 * before the node receives it, or before its answer is returned where only the answer identifies the transaction.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Network } from '#chains/network'
import type { Log } from '#runtime/log/log'
import type { StateKeeper } from './chain.ts'
import { genesisOf } from './genesis.ts'
import { type JournalEntry, openJournal } from './journal.ts'
import { adoptOrEnd, readRecord, writeRecord } from './leftover-node.ts'
import type { Mining } from './mining.ts'
import { startNode } from './node.ts'
import { type Replayed, replay } from './replay.ts'
import { kindOf, requestsIn } from './requests.ts'
import { call, post } from './rpc.ts'
import { closeSession, createSession, dumpSession, type Session } from './session.ts'
import { createSettings, type Settings } from './settings.ts'
import { newestGeneration, removeOtherGenerations, type StateFiles, stateFilesIn } from './state-file.ts'
import { writeAlone, writeTransactions } from './writes.ts'

export type PersistentOptions = {
  network: Network
  directory: string
  gasLimit: bigint
  /** Whether transactions are mined at once unless a request sets another mode. */
  minesAtOnce: boolean
  log: Log
}

export function persistentKeeper(options: PersistentOptions): StateKeeper {
  let session: Session | undefined
  const current = () => {
    if (!session) throw new Error(`The local chain ${options.network.blockchain} is not running`)
    return session
  }
  return {
    open: async (mining) => {
      session?.abandon()
      session = await openSession(options, mining)
      return session.node
    },
    write: (node, body) => {
      const requests = requestsIn(body) ?? []
      const kinds = new Set(requests.map((request) => kindOf(request.method)))
      const open = current()
      if (kinds.has('admin') || kinds.has('wholesale')) {
        return open.gate.alone(() => writeAlone(open, body, requests))
      }
      if (kinds.has('raw') || kinds.has('unsigned')) {
        return open.gate.shared(() => writeTransactions(open, body, requests))
      }
      return post(node.url, body)
    },
    alone: (work) => current().gate.alone(work),
    persist: async () => {
      const open = current()
      await open.gate.alone(() => dumpSession(open))
    },
    close: async () => {
      if (session) await closeSession(session)
    },
  }
}

/** Adopts the node that an earlier process left, or starts one and replays the journal onto it. */
async function openSession(options: PersistentOptions, mining: Mining): Promise<Session> {
  const { network, directory, log } = options
  const files = stateFilesIn(directory)
  mkdirSync(files.cache, { recursive: true })
  const genesisGasLimit = ensureGenesis(options, files)
  const previous = readRecord(directory)
  const adopted = await adoptOrEnd(previous, files.cache)
  const generation = newestGeneration(directory)
  removeOtherGenerations(directory, generation)
  const { journal, entries } = openJournal(files.journal(generation))
  const settings = createSettings()
  const record = {
    pid: adopted?.pid ?? 0,
    port: previous?.port ?? 0,
    chainId: network.chainId,
    isReady: false,
  }
  const start = async () => {
    const source = generation === 0 ? { init: files.genesis } : { state: files.state(generation) }
    const onSpawn = (spawned: { pid: number; port: number }) =>
      writeRecord(directory, Object.assign(record, spawned))
    const wanted = { chainId: network.chainId, gasLimit: genesisGasLimit, cacheDir: files.cache, source }
    return startNode({ ...wanted, port: previous?.port || undefined, onSpawn })
  }
  const node = adopted ?? (await start())
  let session: Session | undefined
  try {
    const replayed = adopted
      ? recall(entries, settings)
      : await replay(node.url, entries, settings, options.minesAtOnce, log)
    const { mining: mode, lastBlock } = replayed
    const kept = { node, files, settings, journal, generation, mining: mode, log }
    session = createSession({ ...kept, lastBlock, entries })
    if (adopted) await dumpIfReplaced(session, entries)
    await session.follower.flush()
    await applyGasLimit(session, options.gasLimit)
    await beginMining(session, mining, adopted !== undefined)
    writeRecord(directory, Object.assign(record, { isReady: true, pid: node.pid }))
    return session
  } catch (error) {
    session?.abandon()
    journal.close()
    await node.end(0)
    throw error
  }
}

/** Derives the result of a replay from the journal, for an adopted node, which needs no replay. */
function recall(entries: readonly JournalEntry[], settings: Settings): Replayed {
  const recalled: Replayed = { offsetS: 0, mining: undefined, lastBlock: 0 }
  for (const entry of entries) {
    if (entry.kind === 'head') {
      recalled.lastBlock = entry.block?.number ?? 0
      recalled.mining = entry.mining
      for (const { method, params } of entry.settings) settings.note(method, params)
    } else if (entry.kind === 'admin') settings.note(entry.method, entry.params)
    else if (entry.kind === 'mining')
      recalled.mining = { automine: entry.automine, intervalS: entry.intervalS }
    else if (entry.kind === 'block') {
      recalled.lastBlock = entry.number
      settings.blockMined()
    }
  }
  return recalled
}

/** Writes the genesis file once; a new time in it would create a new chain. Returns its gas limit. */
function ensureGenesis({ network, gasLimit }: PersistentOptions, files: StateFiles): bigint {
  if (!existsSync(files.genesis)) {
    const genesis = genesisOf(network, { timestampS: Math.floor(Date.now() / 1000), gasLimit })
    writeFileSync(`${files.genesis}.tmp`, JSON.stringify(genesis))
    renameSync(`${files.genesis}.tmp`, files.genesis)
  }
  const genesis = JSON.parse(readFileSync(files.genesis, 'utf8')) as { gasLimit: string }
  return BigInt(genesis.gasLimit)
}

/** Applies the configured gas limit from now on, unless a request has set another one on the node. */
async function applyGasLimit(session: Session, gasLimit: bigint): Promise<void> {
  const isSetByHand = session.settings.list().some(({ method }) => method.endsWith('_setBlockGasLimit'))
  const { url } = session.node
  const latest = await call<{ gasLimit: string }>(url, 'eth_getBlockByNumber', ['latest', false])
  if (isSetByHand || BigInt(latest.gasLimit) === gasLimit) return
  const admin = { method: 'evm_setBlockGasLimit', params: [`0x${gasLimit.toString(16)}`] }
  session.journal.append({ kind: 'admin', ...admin })
  await call(url, admin.method, admin.params)
}

async function beginMining({ node, mining }: Session, usual: Mining, isAdopted: boolean): Promise<void> {
  if (!mining) return usual.begin(node.url)
  if (isAdopted) return
  if (mining.automine) await call(node.url, 'evm_setAutomine', [true])
  else if (mining.intervalS !== null) await call(node.url, 'evm_setIntervalMining', [mining.intervalS])
}

/** Dumps the state if an earlier process was killed between a revert and its dump: its journal then holds removed blocks. */
async function dumpIfReplaced(session: Session, entries: readonly JournalEntry[]): Promise<void> {
  const last = entries.reduce<{ number: number; hash: string } | undefined>((found, entry) => {
    if (entry.kind === 'block') return entry
    return entry.kind === 'head' ? entry.block : found
  }, undefined)
  if (!last) return
  const params = [`0x${last.number.toString(16)}`, false]
  const block = await call<{ hash: string } | null>(session.node.url, 'eth_getBlockByNumber', params)
  if (block?.hash !== last.hash) await dumpSession(session)
}
