import type { Database } from '#runtime/db/db'
import { leftOpen, stepsBehind, type TableSize, tableSizes } from './left.ts'
import { type PlatformProcess, residentBytes } from './processes.ts'
import type { Point } from './statistics.ts'

/** Samples of one life of a process; x is hours since the start of the run, y is mebibytes. */
export type Series = { name: string; life: number; live: Point[]; resident: Point[] }

export type Sampler = {
  series(): readonly Series[]
  /** Work that was open at the last look. */
  open(): ReadonlyMap<string, number> | undefined
  /** Number of things that were open, at each look, and the sizes of tables every few minutes. */
  queues(): readonly { hours: number; open: number; behind: number }[]
  tables(): readonly { hours: number; sizes: readonly TableSize[] }[]
  /** All of it, to be written to a file. */
  samples(): unknown
  look(): Promise<void>
}

const mebibyte = 2 ** 20
const tablesEveryHours = 0.08

/** Looks at the memory of every process, and at the queues. */
export function openSampler(database: Database, processes: readonly PlatformProcess[]): Sampler {
  const startedMs = performance.now()
  let last: ReadonlyMap<string, number> | undefined
  const all = new Map<string, Series>()
  const queues: { hours: number; open: number; behind: number }[] = []
  const tables: { hours: number; sizes: readonly TableSize[] }[] = []
  const hours = () => (performance.now() - startedMs) / 3_600_000
  const lookAt = async (process: PlatformProcess) => {
    const life = process.life()
    const pid = process.pid()
    const memory = await process.memory()
    if (!memory || process.life() !== life) return
    const key = `${process.name} ${life}`
    const series = all.get(key) ?? { name: process.name, life, live: [], resident: [] }
    all.set(key, series)
    const x = hours()
    series.live.push({ x, y: (memory.heapBytes + memory.externalBytes) / mebibyte })
    const resident = (pid && residentBytes(pid)) || memory.rssBytes
    series.resident.push({ x, y: resident / mebibyte })
  }
  return {
    series: () => [...all.values()],
    open: () => last,
    queues: () => queues,
    tables: () => tables,
    samples: () => ({ series: [...all.values()], queues, tables }),
    look: async () => {
      for (const process of processes) await lookAt(process)
      const left = await leftOpen(database)
      last = left
      const open = [...left.values()].reduce((sum, each) => sum + each, 0)
      queues.push({ hours: hours(), open, behind: await stepsBehind(database) })
      const newest = tables.at(-1)
      if (!newest || hours() - newest.hours > tablesEveryHours)
        tables.push({ hours: hours(), sizes: await tableSizes(database) })
    },
  }
}
