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

/** The files of one chain. A state and the journal to play onto it share a generation; generation 0 is genesis. */
export type StateFiles = {
  /** The node's own overflow, worthless to another node. */
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

/** The newest complete state; 0 when only genesis is there. Its name appears by a rename, so it is whole. */
export function newestGeneration(directory: string): number {
  const generations = readdirSync(directory).map((name) => Number(/^state-(\d+)\.json$/.exec(name)?.[1] ?? 0))
  return Math.max(0, ...generations)
}

/** Removes what a newer state made useless, and what an interrupted dump left behind. */
export function removeOtherGenerations(directory: string, generation: number): void {
  for (const name of readdirSync(directory)) {
    const match = /^(?:state|journal)-(\d+)\.jsonl?(\.tmp)?$/.exec(name)
    if (match && (match[2] || Number(match[1]) !== generation)) rmSync(join(directory, name), { force: true })
  }
}

const unzip = promisify(gunzip)

/**
 * Takes the node's state into a temporary file beside `path`, on disk when this resolves, and returns its last block's
 * number. The node stands still meanwhile. `commitState` makes the file count.
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

/** The state can be hundreds of megabytes, so it is not parsed for one number. */
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

/** A rename lasts once its directory is on disk; Windows has no such call. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
