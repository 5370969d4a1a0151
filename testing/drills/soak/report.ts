import type { Balancer } from './balancer.ts'
import type { Book } from './book.ts'
import type { Load } from './load.ts'
import type { LogWatch } from './log-watch.ts'
import type { SoakOptions } from './options.ts'
import type { Sampler, Series } from './sampler.ts'
import { commonSlope, type Judgement, judge, type Point, type Slope } from './statistics.ts'
import type { Verdict } from './verdict.ts'

type Reported = {
  options: SoakOptions
  lastedMs: number
  book: Book
  verdict: Verdict
  sampler: Sampler
  met: ReadonlyMap<string, number>
  balancer: Balancer
  load: Load
  watch: LogWatch
}

/** Share of a life in which a process loads code and fills caches, and its longest. */
const warmUpShare = 0.25
const warmUpMaxHours = 0.5
/** Shorter lives tell of their warm-up alone. */
const judgedMinHours = 1
/** Growth that counts, in parts of the level within an hour. */
const growthShare = 0.01

export function report(reported: Reported): { text: string; defects: string[] } {
  const { options, lastedMs, book, verdict, sampler, met, balancer, load, watch } = reported
  const memory = memoryRows(sampler.series())
  const defects = [
    ...book.defects,
    ...verdict.defects,
    ...memory.filter(({ judgement }) => judgement === 'grows').map(({ text }) => `memory grows: ${text}`),
  ]
  const total = (counts: ReadonlyMap<string, number>) =>
    [...counts.values()].reduce((sum, each) => sum + each, 0)
  const lines = [
    `seed ${options.seed}, ${(lastedMs / 3_600_000).toFixed(2)} hours of load at ${options.perMinute} acts in a minute, settled ${(verdict.settledMs / 1_000).toFixed(0)} s later`,
    '',
    'product              done  failed',
    ...[...new Set([...book.done.keys(), ...book.failed.keys()])].map(
      (name) =>
        `${name.padEnd(20)} ${String(book.done.get(name) ?? 0).padStart(4)}  ${String(book.failed.get(name) ?? 0).padStart(6)}`,
    ),
    `${verdict.accepted} accepted and compared with the chains; ${load.leftOut()} left out because as many were under way`,
    `${balancer.counts.requests} requests, ${balancer.counts.repeated} made again, ${balancer.counts.given} without an answer`,
    `faults: ${[...met].map(([kind, n]) => `${n} ${kind}`).join(', ') || 'none'} (${total(met)})`,
    `webhooks: ${JSON.stringify(verdict.deliveries)}`,
    `reconcile: ${verdict.reconciled}`,
    `alarms raised: ${[...watch.counts].map(([name, n]) => `${n} ${name}`).join(', ') || 'none'}`,
    '',
    'memory (MiB)            level   slope an hour   standard error   samples   it is',
    ...memory.map(({ text }) => text),
    '',
    ...queueLines(sampler),
    ...section(
      'acts that failed',
      [...book.failures].map(([what, n]) => `${n} × ${what}`),
    ),
    ...section(
      'warnings in logs',
      [...watch.troubles]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 30)
        .map(([what, n]) => `${n} × ${what}`),
    ),
    ...section('DEFECTS', defects),
  ]
  return { text: lines.join('\n'), defects }
}

const section = (title: string, lines: readonly string[]) =>
  lines.length > 0 ? ['', `${title}:`, ...lines] : []

type MemoryRow = { text: string; judgement: Judgement | undefined }

function memoryRows(all: readonly Series[]): MemoryRow[] {
  const names = [...new Set(all.map(({ name }) => name))]
  return names.flatMap((name) => {
    const lives = all.filter((each) => each.name === name && hoursOf(each.live) >= judgedMinHours)
    return (['live', 'resident'] as const).map((kind) => {
      const slope = commonSlope(lives.map((life) => warmedUp(life[kind])))
      return {
        text: rowOf(`${name} ${kind}`, slope),
        judgement: slope && judge(slope, growthShare * slope.level),
      }
    })
  })
}

const hoursOf = (points: readonly Point[]) => (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0)

function warmedUp(points: readonly Point[]): Point[] {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return []
  const from = first.x + Math.min(warmUpMaxHours, warmUpShare * (last.x - first.x))
  return points.filter(({ x }) => x >= from)
}

function rowOf(name: string, slope: Slope | undefined): string {
  if (!slope) return `${name.padEnd(22)} no life of an hour`
  const { level, slope: perHour, standardError, points } = slope
  const judgement = judge(slope, growthShare * level)
  return `${name.padEnd(22)} ${level.toFixed(1).padStart(6)} ${perHour.toFixed(2).padStart(15)} ${standardError.toFixed(2).padStart(16)} ${String(points).padStart(9)}   ${judgement}`
}

function queueLines(sampler: Sampler): string[] {
  const [first, last] = [sampler.tables()[0], sampler.tables().at(-1)]
  if (!first || !last) return []
  const before = new Map(first.sizes.map((each) => [each.name, each]))
  const mb = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
  const open = sampler.queues().map((each) => each.open)
  return [
    `open at a time: ${Math.max(0, ...open)} at most, ${open.at(-1) ?? 0} at the end`,
    'largest tables (rows, MiB at the start and at the end):',
    ...last.sizes
      .slice(0, 12)
      .map(
        ({ name, rows, bytes }) =>
          `  ${name.padEnd(28)} ${String(rows).padStart(8)} rows  ${mb(before.get(name)?.bytes ?? 0)} → ${mb(bytes)}`,
      ),
  ]
}
