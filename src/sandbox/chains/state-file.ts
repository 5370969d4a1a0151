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
import { post } from './rpc.ts'

/** The files of one chain. A state and the journal to replay onto it share a generation; generation 0 is genesis. */
export type StateFiles = {
  /** The node's own old states, useless to another node. */
  cache: string
  genesis: string
  state(generation: number): string
  journal(generation: number): string
}

export function stateFilesIn(directory: string): StateFiles {
  return {
    cache: join(directory, 'cache'),
    genesis: join(directory, 'genesis.json'),
    state: (generation) => join(directory, `state-${generation}.json`),
    journal: (generation) => join(directory, `journal-${generation}.jsonl`),
  }
}

/** Returns the generation of the newest state; 0 when only genesis exists. States are renamed into place, so are complete. */
export function newestGeneration(directory: string): number {
  const generations = readdirSync(directory).map((name) => Number(/^state-(\d+)\.json$/.exec(name)?.[1] ?? 0))
  return Math.max(0, ...generations)
}

/** Removes the files of other generations, and those of interrupted dumps. */
export function removeOtherGenerations(directory: string, generation: number): void {
  for (const name of readdirSync(directory)) {
    const match = /^(?:state|journal)-(\d+)\.jsonl?(\.tmp)?$/.exec(name)
    if (match && (match[2] || Number(match[1]) !== generation)) rmSync(join(directory, name), { force: true })
  }
}

const unzip = promisify(gunzip)

/**
 * Writes the node's state to a temporary file beside `path`, synced to disk when this resolves, and returns its last
 * block's number. The node is blocked meanwhile. `commitState` renames the file into place.
 */
export async function dumpState(nodeUrl: string, path: string): Promise<number> {
  const reply = await post(nodeUrl, '{"jsonrpc":"2.0","id":1,"method":"anvil_dumpState","params":[]}')
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
    await file.sync()
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

export function commitState(path: string): void {
  renameSync(temporary(path), path)
  syncDirectory(join(path, '..'))
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
