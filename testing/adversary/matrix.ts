/**
 * The crash matrix: every failpoint under random schedules. A run has a separate chain and database and two worker processes, wallets
 * that pay, and buyers who pay by x402; processes die, freeze and restart, blocks are orphaned, the pool is emptied. Then the faults
 * end, and an independent reader of the chain checks that each accepted payment moved its value once, or failed and moved nothing.
 */
import type { Failpoint, FailpointAction } from '#runtime/scheduling/failpoints'
import { type RunResult, runSchedule } from './run.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import { seedDatabase } from './seeded-database.ts'
import { openIdleWorkers } from './worker-pool.ts'

export type MatrixOptions = {
  /** URL of the server that gives each run its database. */
  runServer: string
  /** Seed of the first run; each following one has the next number. */
  seed: number
  runs: number
  points: readonly Failpoint[]
  /** The action at the points; by default the seed decides. */
  action?: FailpointAction | undefined
  /** Number of runs at once. */
  jobs: number
  /** Arguments of `node` that start a worker process. */
  workerArgs: readonly string[]
  onStart?(schedule: Schedule): void
  onResult?(result: RunResult, done: number): void
}

/** Carries out all runs; points take turns, so that each gets an equal share. */
export async function runMatrix(options: MatrixOptions): Promise<RunResult[]> {
  const { runServer, seed, runs, points, workerArgs, onStart, onResult } = options
  const idleWorkers = openIdleWorkers(workerArgs)
  const seededDatabase = await seedDatabase(runServer)
  const results: RunResult[] = []
  let started = 0
  const work = async () => {
    while (started < runs) {
      const index = started++
      const schedule = scheduleOf(seed + index, points[index % points.length]!, options.action)
      onStart?.(schedule)
      const result = await runSchedule({ seededDatabase, idleWorkers }, schedule)
      results.push(result)
      onResult?.(result, results.length)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(options.jobs, runs) }, work))
  } finally {
    idleWorkers.killAll()
    await seededDatabase.drop()
  }
  return results
}
