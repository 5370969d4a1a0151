/**
 * Threads for long computations that run while no request needs their core, so that a comparison of a PIN delays no request. On Linux
 * a thread has a scheduling policy of its own and hands it on: one kept thread, of the policy for idle time, starts all others.
 * Elsewhere, and where `chrt` is missing, they are ordinary threads.
 */
import { Worker } from 'node:worker_threads'

export type YieldingThreads = {
  /**
   * Runs `source` in a thread of its own, which ends with its first message, and resolves when it has ended. Throws when it
   * fails, or when as many threads as allowed wait for idle time.
   */
  run(source: string, workerData: object): Promise<void>
  close(): Promise<void>
}

/** Includes threads that a busy machine has not let run yet. */
const threadsMax = 6

/** Plain JavaScript in a string, because the same file has to start from the source, a bundle and the package. */
const keeperSource = `
  const { execFileSync } = require('node:child_process')
  const { readlinkSync } = require('node:fs')
  const { setPriority } = require('node:os')
  const { parentPort, Worker } = require('node:worker_threads')
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').pop()
    try {
      execFileSync('chrt', ['--idle', '--pid', '0', thread], { stdio: 'ignore' })
    } catch {
      setPriority(Number(thread), 5)
    }
  } catch {}
  parentPort.on('message', ({ id, source, workerData }) => {
    const thread = new Worker(source, { eval: true, execArgv: [], env: {}, workerData })
    let problem = 'it ended before its work'
    thread.once('message', () => {
      problem = undefined
      thread.terminate()
    })
    thread.once('error', ({ message }) => {
      problem = message
    })
    thread.once('exit', () => parentPort.postMessage({ id, problem }))
  })
`

type ThreadEnd = { id: number; problem: string | undefined }
type PendingThread = { resolve(): void; reject(error: Error): void }

export function createYieldingThreads(): YieldingThreads {
  const waiting = new Map<number, PendingThread>()
  let keeper: Worker | undefined
  let lastId = 0
  const settle = (id: number, problem: string | undefined) => {
    const { resolve, reject } = waiting.get(id) ?? {}
    waiting.delete(id)
    if (problem === undefined) resolve?.()
    else reject?.(new Error(`a thread failed: ${problem}`))
  }
  const keep = (): Worker => {
    if (keeper) return keeper
    const started = new Worker(keeperSource, { eval: true, execArgv: [] })
    // Between computations it keeps no process from ending.
    started.unref()
    started.on('message', ({ id, problem }: ThreadEnd) => settle(id, problem))
    started.once('error', () => undefined)
    started.once('exit', () => {
      if (keeper === started) keeper = undefined
      for (const id of [...waiting.keys()]) settle(id, 'the thread that started it ended')
    })
    keeper = started
    return started
  }
  return {
    run: (source, workerData) =>
      new Promise((resolve, reject) => {
        if (waiting.size >= threadsMax) throw new Error(`${threadsMax} threads wait for idle time`)
        lastId += 1
        waiting.set(lastId, { resolve, reject })
        keep().postMessage({ id: lastId, source, workerData })
      }),
    close: async () => void (await keeper?.terminate()),
  }
}
