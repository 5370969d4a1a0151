import { inject } from 'vitest'
import type { ProgramFiles, ProgramName } from './compile-programs.ts'
import { startWorker, type Worker } from './worker.ts'

let asked: Promise<ProgramFiles> | undefined

/** The file of a program as this test run compiled it: the first argument of `node`. */
export async function programFile(name: ProgramName): Promise<string> {
  asked ??= fetch(`${inject('runServer')}/programs`).then(async (response) => {
    if (!response.ok) throw new Error(`the programs do not compile: ${await response.text()}`)
    return (await response.json()) as ProgramFiles
  })
  return (await asked)[name]
}

/** Starts a worker process, which waits for orders. */
export async function spawnWorker(): Promise<Worker> {
  return startWorker([await programFile('worker')])
}
