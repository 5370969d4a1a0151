import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { postToNode } from './rpc.ts'

/**
 * The files of one chain. A state and the journal of everything after it share a generation; generation 0 is genesis. A
 * state followed by the journals of all generations from its own on gives the chain.
 */
export type StateFiles = {
  directory: string
  /** The node's own old states, useless to another node. */
  cache: string
  genesis: string
  state(generation: number): string
  journal(generation: number): string
}

export function stateFilesIn(directory: string): StateFiles {
  return {
    directory,
    cache: join(directory, 'cache'),
    genesis: join(directory, 'genesis.json'),
    state: (generation) => join(directory, `state-${generation}.json`),
    journal: (generation) => join(directory, `journal-${generation}.jsonl`),
  }
}

/**
 * Returns the generations whose state exists, oldest first; 0, genesis, needs no file but its journal. States are renamed
 * into place, so are complete.
 */
export function generationsIn(directory: string): number[] {
  const names = readdirSync(directory)
  const numbers = names.map((name) => Number(/^state-(\d+)\.json$/.exec(name)?.[1] ?? 0)).filter(Boolean)
  const hasGenesis = numbers.length === 0 || names.includes('journal-0.jsonl')
  return [...(hasGenesis ? [0] : []), ...numbers.sort((one, other) => one - other)]
}

/** Removes the states of other generations, the journals before the first of these, and files of interrupted dumps. */
export function keepOnly(directory: string, generations: readonly number[]): void {
  const [first = 0, last = 0] = [generations[0], generations.at(-1)]
  for (const name of readdirSync(directory)) {
    const [, kind, digits, draft] = /^(state|journal)-(\d+)\.jsonl?(\.tmp)?$/.exec(name) ?? []
    if (kind === undefined) continue
    const generation = Number(digits)
    const isKept =
      kind === 'state' ? generations.includes(generation) : generation >= first && generation <= last
    if (draft || !isKept) rmSync(join(directory, name), { force: true })
  }
}

/** A state file and the number of the last block in it. */
export type SavedState = { generation: number; block: number }

/** The number of blocks that a node mines again at its start: it can reorganise those, but none of a loaded state. */
const reorgDepth = 64

/**
 * Returns the states that are needed when the chain has `height` blocks, oldest first: the newest one that leaves
 * `reorgDepth` blocks to mine again, the one that will be next in its place, and the newest.
 */
export function neededStates(states: readonly SavedState[], height: number): number[] {
  const isDeep = ({ block }: SavedState) => height - block >= reorgDepth
  const base = Math.max(0, states.findLastIndex(isDeep))
  return [...new Set([states[base], states[base + 1], states.at(-1)])].flatMap(
    (state) => state?.generation ?? [],
  )
}

const unzip = promisify(gunzip)

/**
 * Writes the node's state to a temporary file beside `path`, synced to disk when this resolves where the chain is durable,
 * and returns its last block's number. The node is blocked meanwhile. `commitState` renames the file into place.
 */
export async function dumpState(nodeUrl: string, path: string, isDurable: boolean): Promise<number> {
  const reply = await postToNode(nodeUrl, '{"jsonrpc":"2.0","id":1,"method":"anvil_dumpState","params":[]}')
  const marker = Buffer.from('"result":"0x')
  const start = reply.body.indexOf(marker) + marker.length
  const end = reply.body.indexOf('"', start)
  if (start < marker.length || end === -1) {
    throw new Error(`The local node gave no state: ${reply.body.subarray(0, 200).toString()}`)
  }
  const state = await unzip(Buffer.from(reply.body.toString('latin1', start, end), 'hex'))
  const file = await open(temporary(path), 'w', 0o600)
  try {
    await file.writeFile(state)
    if (isDurable) await file.sync()
  } finally {
    await file.close()
  }
  return lastBlockOf(state)
}

/** Finds the last block's number without parsing the state, which can be hundreds of megabytes. */
function lastBlockOf(state: Buffer): number {
  const marker = Buffer.from('"best_block_number":')
  const start = state.lastIndexOf(marker)
  const match = /^\s*"?(0x[0-9a-f]+|\d+)/.exec(state.toString('latin1', start + marker.length, start + 60))
  if (start === -1 || !match) throw new Error('The state of the local node names no last block')
  return Number(match[1])
}

export function commitState(path: string, isDurable: boolean): void {
  renameSync(temporary(path), path)
  if (isDurable) syncDirectory(join(path, '..'))
}

export function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}

function temporary(path: string): string {
  return `${path}.tmp`
}

/** Makes a rename durable by syncing its directory; Windows has no such call. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
