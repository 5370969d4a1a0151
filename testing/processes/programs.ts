import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import type { ProgramFiles, ProgramName } from './compile-programs.ts'
import { startWorker, type Worker } from './worker.ts'

let asked: Promise<ProgramFiles> | undefined

/** The file of a program as this test run compiled it: the first argument of `node`. */
export async function programFile(name: ProgramName): Promise<string> {
  asked ??= shared<ProgramFiles>('programs')
  return (await asked)[name]
}

/** A separate data directory on which the program was started before, which costs a third of a first start. */
export async function initializedDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bezant-data-'))
  // Owners and permissions are kept, because the cluster may be another user's.
  await promisify(execFile)('cp', ['-a', `${await shared<string>('data-directory')}/.`, directory])
  return directory
}

async function shared<Result>(path: string): Promise<Result> {
  const response = await fetch(`${inject('runServer')}/${path}`)
  if (!response.ok) throw new Error(`the run has no ${path}: ${await response.text()}`)
  return (await response.json()) as Result
}

/** Starts a worker process, which waits for orders. */
export async function spawnWorker(): Promise<Worker> {
  return startWorker([await programFile('worker')])
}
