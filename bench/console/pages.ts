import type { Page } from 'playwright-core'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import { alternateRounds, median, ratioOf } from '../statistics.ts'
import { openMeter, openPath, untilTrue } from './browser.ts'

/** The address of the page that each of the two readers turns to next. */
type Places = Record<'first' | 'deep', string>

/**
 * Further pages of a list of many rows, from its beginning and from `deepCursor` on in turns: the time from the key to the painted
 * rows, with the request, and the script of the browser for them.
 */
export async function measurePages(
  run: Run,
  page: Page,
  { path, rows, deepCursor }: { path: string; rows: number; deepCursor: string },
): Promise<Figure[]> {
  await openPath(page, '/transactions')
  await page.waitForSelector('a[data-row]')
  const places: Places = { first: '', deep: `${path}?pageSize=50&pageAfter=${deepCursor}` }
  let reader: keyof Places = 'first'
  await page.route(`**${path}?*pageAfter=*`, async (route) => {
    const url = new URL(places[reader] || route.request().url(), page.url()).href
    await route.continue({ url })
  })
  page.on('response', (response) => {
    const next = /<([^>]+)>; rel="next"/.exec(response.headers()['link'] ?? '')?.[1]
    if (next && response.url().includes('pageAfter='))
      places[reader] = new URL(next).pathname + new URL(next).search
  })
  const meter = await openMeter(page)
  const scripts: Record<keyof Places, number[]> = { first: [], deep: [] }
  const turn = (which: keyof Places) => async () => {
    reader = which
    const before = await meter.scriptMs()
    const tookMs = await turnPage(page)
    scripts[which].push((await meter.scriptMs()) - before)
    return tookMs
  }
  const readers = { first: turn('first'), deep: turn('deep') }
  // As many pages as the document has at most.
  await alternateRounds(run.amount(5, 5, 1), readers)
  scripts.first = []
  scripts.deep = []
  run.report('pages are turned')
  const busy = measureBusyCores()
  const times = await alternateRounds(run.amount(60, 12, 2), readers)
  const coresBusy = busy()
  await page.unroute(`**${path}?*pageAfter=*`)
  const depth = Math.floor(rows * 0.9).toLocaleString('en')
  const compared = (name: string, values: typeof times, promise: NonNullable<Figure['promise']>): Figure => ({
    name: `console: ${name}, at row ${depth} of ${rows.toLocaleString('en')}`,
    measured: { value: median(values.deep), unit: 'ms' },
    reference: { what: 'first rows', value: median(values.first), unit: 'ms' },
    ratio: ratioOf(values.deep, values.first),
    promise,
    coresBusy,
  })
  return [
    compared('50 further rows from the key until they are painted', times, { ratioMax: 1.2 }),
    compared('script for 50 further rows', scripts, { max: 100 }),
  ]
}

/** Asks for the next page by its key; returns the milliseconds until its rows are painted. */
async function turnPage(page: Page): Promise<number> {
  const last = `document.querySelector('tbody tr:last-child')?.dataset.id`
  await untilTrue(page, `document.querySelector('main section footer button:last-child')?.disabled === false`)
  return page.evaluate<number>(`new Promise((resolve) => {
    const before = ${last}
    const startedMs = performance.now()
    const look = () => {
      if (${last} === before) requestAnimationFrame(look)
      else requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedMs)))
    }
    dispatchEvent(new KeyboardEvent('keydown', { key: ']' }))
    look()
  })`)
}
