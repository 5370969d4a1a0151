import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './figures.ts'

/** The node of `drain`: the local one, or a stub of it without a virtual machine. */
export type RunNode = 'anvil' | 'stub'

/** Services for a bench. */
export type Run = {
  /** Chooses a number of rounds or rows: `full` for figures, `quick` for a first look, `smallest` to see that the bench works. */
  amount(full: number, quick: number, smallest: number): number
  node: RunNode
  /** Reports progress on standard error. */
  report(text: string): void
  /** Runs `undo` at the end, the latest first, also when the bench fails or is interrupted. */
  atEnd(undo: () => Promise<unknown>): void
  /** A new empty directory, removed at the end. */
  directory(): Promise<string>
}

export type Bench = {
  name: string
  about: string
  measure(run: Run): Promise<Figure[]>
}

export type BenchSize = 'full' | 'quick' | 'smallest'

/** Runs one bench and clears up after it. */
export async function runBench(
  bench: Bench,
  { size, node, signal }: { size: BenchSize; node: RunNode; signal: AbortSignal },
): Promise<Figure[]> {
  const undo: (() => Promise<unknown>)[] = []
  const startedMs = performance.now()
  const run: Run = {
    node,
    amount: (full, quick, smallest) => ({ full, quick, smallest })[size],
    report: (text) => {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      process.stderr.write(`${bench.name.padEnd(8)} ${seconds.padStart(6)} s  ${text}\n`)
    },
    atEnd: (step) => void undo.push(step),
    directory: async () => {
      const path = await mkdtemp(join(tmpdir(), 'bezant-bench-'))
      undo.push(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
      return path
    },
  }
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted')))
  })
  try {
    signal.throwIfAborted()
    return await Promise.race([bench.measure(run), interrupted])
  } finally {
    for (const step of undo.splice(0).reverse())
      await step().catch((error: Error) => run.report(`clearing up: ${error.message}`))
  }
}
