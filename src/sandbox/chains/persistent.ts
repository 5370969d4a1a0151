/**
 * Keeps a local chain in a directory, of which snapshots are copies: state files and journals of everything sent since. A request is in the journal
 * before the node receives it, or before its answer is returned where only the answer identifies the transaction.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Network } from '#chains/networks/index'
import type { Log } from '#runtime/log/log'
import { attesterAccount } from '../constants.ts'
import { endLeftover, type NodeRecord, readRecord, writeRecord } from './end-killed-node.ts'
import { genesisOf } from './genesis.ts'
import { type ChainJournal, type JournalEntry, openChainJournal, readJournal } from './journal.ts'
import type { Mining } from './mining.ts'
import { type LocalNode, startNode } from './node.ts'
import { DifferentBlocks, replayJournal, setGasLimit } from './replay.ts'
import { requestKindOf, requestsIn } from './requests.ts'
import { call, postToNode } from './rpc.ts'
import { writeAlone, writeTransactions } from './send-recorded.ts'
import { closeSession, copySession, createSession, dumpSession, type Session } from './session.ts'
import { createSettings } from './settings.ts'
import { generationsIn, keepOnly, type SavedState, type StateFiles, stateFilesIn } from './state-file.ts'
import type { StateKeeper } from './state-keeper.ts'

type PersistentOptions = {
  network: Network
  directory: string
  gasLimit: bigint
  /** Whether transactions are mined at once unless a request sets another mode. */
  minesAtOnce: boolean
  /** Whether the directory outlives this process. */
  isDurable: boolean
  log: Log
  onSpawn(spawned: { pid: number }): void
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
      const kinds = new Set(requests.map((request) => requestKindOf(request.method)))
      const open = current()
      if (kinds.has('admin') || kinds.has('replacement')) {
        return open.gate.alone(() => writeAlone(open, body, requests))
      }
      if (kinds.has('raw') || kinds.has('unsigned')) {
        return open.gate.shared(() => writeTransactions(open, body, requests))
      }
      return postToNode(node.url, body)
    },
    alone: (work) => current().gate.alone(work),
    loadedTo: () => current().loadedTo,
    persist: async () => {
      const open = current()
      await open.gate.alone(() => dumpSession(open))
    },
    copyTo: (copy) => copySession(current(), copy),
    abandon: async () => {
      const open = current()
      // A state that is being written would otherwise get its name in the files that come next.
      await open.gate.alone(async () => open.abandon())
    },
    close: async () => {
      if (session) await closeSession(session)
    },
  }
}

/** Starts a node and replays the journals onto its state; ends the node of an earlier process that was killed. */
async function openSession(options: PersistentOptions, mining: Mining): Promise<Session> {
  const { network, directory, isDurable, log } = options
  const files = stateFilesIn(directory)
  mkdirSync(files.cache, { recursive: true })
  const genesisGasLimit = ensureGenesis(options, files)
  const previous = readRecord(directory)
  if (previous) await endLeftover(previous, files.cache)
  const opened = openGenerations(files, isDurable)
  const startFrom = (generation: number) => {
    const source = generation === 0 ? { init: files.genesis } : { state: files.state(generation) }
    const onSpawn = (spawned: NodeRecord) => {
      writeRecord(directory, spawned)
      options.onSpawn(spawned)
    }
    const wanted = { network, gasLimit: genesisGasLimit, cacheDir: files.cache, source }
    return startNode({ ...wanted, port: previous?.port || undefined, onSpawn })
  }
  const restored = await restore(opened, startFrom, options.minesAtOnce, log).catch((error) => {
    opened.journal.close()
    throw error
  })
  const { node, settings, replayed, entries } = restored
  let session: Session | undefined
  try {
    const { mining: mode, lastBlock } = replayed
    const { loadedTo } = restored
    const started = { node, files, isDurable, settings, mining: mode, lastBlock, loadedTo, entries, log }
    session = createSession({ ...opened, ...started })
    await session.follower.flush()
    await applyGasLimit(session, options.gasLimit)
    await beginMining(session, mining)
    return session
  } catch (error) {
    session?.abandon()
    opened.journal.close()
    await node.end(0)
    throw error
  }
}

type Generations = {
  /** The states that exist and the block that each ends with, oldest first. */
  states: SavedState[]
  journal: ChainJournal
  /** The entries of the journals since the oldest state, by generation. */
  journals: Map<number, JournalEntry[]>
}

function openGenerations(files: StateFiles, isDurable: boolean): Generations {
  const generations = generationsIn(files.directory)
  keepOnly(files.directory, generations)
  const [first = 0, newest = 0] = [generations[0], generations.at(-1)]
  const journals = new Map<number, JournalEntry[]>()
  for (let generation = first; generation < newest; generation++)
    journals.set(generation, readJournal(files.journal(generation)))
  const { journal, entries } = openChainJournal(files.journal(newest), isDurable)
  journals.set(newest, entries)
  const states = generations.map((generation) => ({ generation, block: headOf(journals, generation) }))
  return { states, journal, journals }
}

function headOf(journals: Generations['journals'], generation: number): number {
  const head = journals.get(generation)?.[0]
  return head?.kind === 'head' ? (head.block?.number ?? 0) : 0
}

/**
 * Replays from the oldest state, so that the node mines the newest blocks itself and can reorganise them. When that gives
 * other blocks than before, starts again from the next newer state; the newest one has them exactly.
 */
async function restore(
  { states, journals }: Generations,
  startFrom: (generation: number) => Promise<LocalNode>,
  minesAtOnce: boolean,
  log: Log,
) {
  const newest = states.at(-1)!.generation
  for (const { generation, block: loadedTo } of states) {
    const settings = createSettings()
    const entries = [...journals].flatMap(([number, part]) => (number >= generation ? part : []))
    const node = await startFrom(generation)
    try {
      return {
        node,
        settings,
        entries,
        loadedTo,
        replayed: await replayJournal(node.url, entries, settings, minesAtOnce, log),
      }
    } catch (error) {
      await node.end(0)
      if (!(error instanceof DifferentBlocks) || generation === newest) throw error
      log.warn({ err: error }, 'A local chain starts from a newer state')
    }
  }
  throw new Error('a local chain has no state')
}

/** Writes the genesis file once; a new time in it would create a new chain. Returns its gas limit. */
function ensureGenesis({ network, gasLimit }: PersistentOptions, files: StateFiles): bigint {
  if (!existsSync(files.genesis)) {
    const genesis = genesisOf(network, {
      timestampS: Math.floor(Date.now() / 1000),
      gasLimit,
      attester: attesterAccount.address,
    })
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
  const wanted = `0x${gasLimit.toString(16)}`
  session.journal.append({ kind: 'gasLimit', gasLimit: wanted })
  await setGasLimit(url, wanted)
}

async function beginMining({ node, mining }: Session, usual: Mining): Promise<void> {
  if (!mining) return usual.begin(node.url)
  if (mining.automine) await call(node.url, 'evm_setAutomine', [true])
  else if (mining.intervalS !== null) await call(node.url, 'evm_setIntervalMining', [mining.intervalS])
}
