import { setTimeout as sleep } from 'node:timers/promises'
import type { Book } from './book.ts'
import type { Load } from './load.ts'
import type { PlatformProcess } from './processes.ts'
import type { Sampler } from './sampler.ts'

const startedMs = performance.now()

/** Reports progress on standard error. */
export function say(text: string): void {
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${minutes.padStart(6)} min  ${text}\n`)
}

type Watched = {
  sampler: Sampler
  book: Book
  load: Load
  processes: readonly PlatformProcess[]
  everyMs: number
}

/** Takes samples at an interval, and says how far the run is, until the signal. */
export async function watchProgress(watched: Watched, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // A connection may be cut just now.
    await watched.sampler.look().catch((error: Error) => say(`no sample: ${error.message}`))
    say(lineOf(watched))
    await sleep(watched.everyMs, undefined, { signal }).catch(() => undefined)
  }
}

function lineOf({ sampler, book, load, processes }: Watched): string {
  const total = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, n) => sum + n, 0)
  const memory = processes.flatMap(({ name, life }) => {
    const series = sampler.series().find((each) => each.name === name && each.life === life())
    return series
      ? [`${name} ${series.live.at(-1)!.y.toFixed(0)}/${series.resident.at(-1)!.y.toFixed(0)}`]
      : []
  })
  const open = [...(sampler.open() ?? [])].map(([name, n]) => `${n} ${name}`)
  return [
    `${total(book.done)} acts done, ${total(book.failed)} failed, ${load.underWay()} under way`,
    `${book.defects.length} defects`,
    `MiB live/resident: ${memory.join(', ')}`,
    `open: ${open.join(', ') || 'nothing'}`,
  ].join('; ')
}
