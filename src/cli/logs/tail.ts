import { setTimeout as delay } from 'node:timers/promises'
import { ServerAway } from '../ask-server.ts'
import type { ParsedArgs } from '../command.ts'
import { askAsOperator } from '../operator-client.ts'
import { waitForStopSignal } from '../stop-signal.ts'
import { type LoggedRow, queryOf, requestsPath } from './requests.ts'

const pollMs = 1_000
/** Rows are written after their dates, by several processes: dates of this time back are read again. */
const overlapMs = 10_000
const pageSize = 50
/** The most pages of one look. */
const pagesMax = 20

/** Prints the newest requests, oldest first, and then new ones until a signal. */
export async function tail(args: ParsedArgs, limit: number): Promise<void> {
  const print = printerOf(args)
  const stopped = new AbortController()
  void waitForStopSignal({ underNpm: false }).then(() => stopped.abort())
  const { data } = await askAsOperator<LoggedRow[]>(args, { path: `${requestsPath}?${queryOf(args, limit)}` })
  print(data.toReversed())
  const seen = new Map(data.map(({ id, createDate }) => [id, createDate]))
  // Requests of before the start that are not shown stay hidden.
  const floor = data.at(-1)?.createDate
  const isAway = noteAway()
  while (!(await pause(stopped.signal))) {
    const since = [...seen.values()].reduce((a, b) => (a > b ? a : b), '')
    const found = await readSince(args, fromOf(since, floor)).then(isAway.no, isAway.yes)
    if (!found) continue
    const fresh = found.filter(({ id }) => !seen.has(id)).toReversed()
    for (const { id, createDate } of fresh) seen.set(id, createDate)
    print(fresh)
    forget(seen)
  }
}

/** True when the command is to stop. */
const pause = (signal: AbortSignal): Promise<boolean> => delay(pollMs, false, { signal }).catch(() => true)

function fromOf(since: string, floor: string | undefined): string | undefined {
  if (since === '') return undefined
  const from = new Date(Date.parse(since) - overlapMs).toISOString()
  return floor !== undefined && floor > from ? floor : from
}

async function readSince(args: ParsedArgs, from: string | undefined): Promise<LoggedRow[]> {
  const rows: LoggedRow[] = []
  let path: string | undefined = `${requestsPath}?${queryOf(args, pageSize, from)}`
  for (let page = 0; path !== undefined && page < pagesMax; page++) {
    const { data, next }: { data: LoggedRow[]; next: string | undefined } = await askAsOperator(args, {
      path,
    })
    rows.push(...data)
    path = next
  }
  if (path !== undefined)
    process.stderr.write(`more than ${rows.length} requests at once: some are not shown\n`)
  return rows
}

/** Forgets what no look reads again. */
function forget(seen: Map<string, string>): void {
  const newest = [...seen.values()].reduce((a, b) => (a > b ? a : b), '')
  const before = newest === '' ? '' : new Date(Date.parse(newest) - 2 * overlapMs).toISOString()
  for (const [id, createDate] of seen) if (createDate < before) seen.delete(id)
}

/** Says once that the server is away, and once that it is back; any refusal ends the command. */
function noteAway() {
  let away = false
  return {
    no: (rows: LoggedRow[]) => {
      if (away) process.stderr.write('the server answers again\n')
      away = false
      return rows
    },
    yes: (error: unknown) => {
      if (!(error instanceof ServerAway)) throw error
      if (!away) process.stderr.write(`${error.message}; trying again\n`)
      away = true
      return undefined
    },
  }
}

const widths = [24, 6, 6, 7] as const

/** Prints rows as they come: a table with fixed columns on a terminal, JSON lines elsewhere. */
function printerOf(args: ParsedArgs): (rows: readonly LoggedRow[]) => void {
  const isTable = process.stdout.isTTY && args.flags['json'] !== true
  const write = (cells: readonly string[]) =>
    process.stdout.write(`${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}\n`)
  if (isTable) write(['ANSWERED', 'METHOD', 'STATUS', 'MS', 'PATH'])
  return (rows) => {
    for (const row of rows) {
      const { createDate, method, status, durationMs, path, code } = row
      if (!isTable) process.stdout.write(`${JSON.stringify(row)}\n`)
      else
        write([
          createDate,
          method,
          String(status),
          String(durationMs),
          code === undefined ? path : `${path}  (${code})`,
        ])
    }
  }
}
