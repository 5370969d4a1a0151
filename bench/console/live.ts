import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Platform } from '../platform.ts'
import type { Run } from '../run.ts'
import { median, percentile } from '../statistics.ts'
import { openMeter, openPath, untilTrue } from './browser.ts'

const perSecond = 50

type Api = Pick<Platform, 'url' | 'headers'>

/** Creates a user, which is one row and one event. */
async function createUser({ url, headers }: Api, userId: string): Promise<void> {
  const answer = await fetch(`${url}/v1/w3s/users`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ userId }),
  })
  if (answer.status !== 201) throw new Error(`POST /v1/w3s/users: ${answer.status} ${await answer.text()}`)
}

/** From the moment at which the API has committed a row, by its answer, until the row is painted in the list. */
export async function measureArrivals(run: Run, page: Page, api: Api): Promise<Figure[]> {
  await openLive(page, '/users')
  await page.evaluate(`(() => {
    globalThis.painted = new Map()
    new MutationObserver(() => {
      const ids = [...document.querySelectorAll('tr[data-id]')].map((row) => row.dataset.id).filter((id) => !painted.has(id))
      if (ids.length > 0) requestAnimationFrame(() => setTimeout(() => ids.forEach((id) => painted.set(id, Date.now()))))
    }).observe(document.querySelector('main'), { childList: true, subtree: true })
  })()`)
  const [count, warmUp] = [run.amount(200, 15, 2), run.amount(10, 2, 1)]
  const times: number[] = []
  const busy = measureBusyCores()
  for (let index = 0; index < count + warmUp; index++) {
    const id = `arrival-${randomUUID()}`
    await createUser(api, id)
    const committedMs = Date.now()
    await untilTrue(page, `painted.has('${id}')`)
    if (index >= warmUp) times.push((await page.evaluate<number>(`painted.get('${id}')`)) - committedMs)
    // The page rests between two questions: the next row comes at any time after that.
    await sleep(1_800 + Math.random() * 300)
  }
  const coresBusy = busy()
  run.report(`rows are painted after ${median(times).toFixed(0)} ms`)
  const figure = (name: string, value: number, max: number): Figure => ({
    name: `console: from the answer that a row is committed until it is painted, ${name} of ${count}`,
    measured: { value, unit: 'ms' },
    promise: { max },
    coresBusy,
  })
  return [figure('p50', median(times), 100), figure('p99', percentile(times, 0.99), 400)]
}

/** A list that is open while events come in, for minutes: what stays in memory, and frames that take long. */
export async function measureStorm(run: Run, page: Page, api: Api): Promise<Figure[]> {
  await openLive(page, '/events')
  await page.evaluate(`(() => {
    globalThis.long = []
    new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'long-animation-frame' })
  })()`)
  const meter = await openMeter(page)
  const seconds = run.amount(600, 30, 3)
  const heaps: { atMin: number; mb: number }[] = []
  const busy = measureBusyCores()
  const startedMs = performance.now()
  const secondsSince = () => (performance.now() - startedMs) / 1_000
  // Rows of a first minute fill the pages and caches that stay as large as they are then.
  const [settledS, everyS] = [Math.min(60, seconds / 3), seconds / 60]
  let sent = 0
  let dueS = settledS
  while (secondsSince() < seconds) {
    const due = Math.floor(secondsSince() * perSecond) - sent
    sent += due
    await Promise.all(Array.from({ length: due }, () => createUser(api, `storm-${randomUUID()}`)))
    if (secondsSince() >= dueS) {
      heaps.push({ atMin: secondsSince() / 60, mb: await meter.heapMb() })
      dueS += everyS
    }
    await sleep(20)
  }
  const coresBusy = busy()
  const long = await page.evaluate<number[]>('long')
  const third = Math.ceil(heaps.length / 3)
  const heapOf = (part: typeof heaps) => median(part.map(({ mb }) => mb))
  const [first, last] = [heapOf(heaps.slice(0, third)), heapOf(heaps.slice(-third))]
  run.report(
    `${sent} events, heap ${slopeOf(heaps).toFixed(3)} MB a minute, ${long.filter((ms) => ms > 100).length} of ${long.length} long frames over 100 ms`,
  )
  const during = `while ${(sent / secondsSince()).toFixed(0)} events/s come for ${(seconds / 60).toFixed(1)} min`
  return [
    {
      name: `console: heap of the list of events in its last third, ${during}`,
      measured: { value: last, unit: 'MB' },
      reference: { value: first, unit: 'MB', what: 'first third' },
      ratio: last / first,
      promise: { ratioMax: 1.1 },
      coresBusy,
    },
    {
      name: `console: longest frame, ${during}`,
      measured: { value: Math.max(0, ...long), unit: 'ms' },
      promise: { max: 100 },
      coresBusy,
    },
  ]
}

async function openLive(page: Page, path: string): Promise<void> {
  await openPath(page, path)
  await untilTrue(page, `document.querySelector('.live.open') !== null`)
}

/** The slope of the line through the points that has the least squares, in MB a minute. */
function slopeOf(points: readonly { atMin: number; mb: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(({ atMin }) => atMin)), mean(points.map(({ mb }) => mb))]
  const sum = (of: (point: (typeof points)[number]) => number) =>
    points.reduce((all, each) => all + of(each), 0)
  return sum(({ atMin, mb }) => (atMin - x) * (mb - y)) / sum(({ atMin }) => (atMin - x) ** 2)
}
