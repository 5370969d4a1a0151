import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { addMember, grantRole, hashPassword } from '#identity/members/index'
import type { Database } from '#runtime/db/db'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { builtConsole } from '#testing/pages/built-console'
import { root } from '#testing/runner/root'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import { startPlatform } from './platform.ts'
import { insertTransactions } from './rows.ts'
import type { Bench, Run } from './run.ts'
import { median } from './statistics.ts'

/** The console in a browser, on a server with a list of 1,000,000 transactions. */
export const consoleBench: Bench = {
  name: 'console',
  about: 'the web console in a browser',
  measure: async (run) => {
    await builtConsole()
    const sizes = sizesOf(join(root, 'console/dist/assets'))
    if (!chromiumPath) {
      run.report('no Chromium is installed: sizes alone')
      return sizes
    }
    const rows = run.amount(1_000_000, 100_000, 2_000)
    const { url, database, entityId } = await startPlatform(run, (owner, entity) =>
      insertTransactions(owner, entity, rows, (done) => run.report(`${done} rows inserted`)),
    )
    await addOperator(database, entityId)
    const browser = await openBrowser()
    run.atEnd(() => browser.close())
    const signedIn = await signIn(browser, url)
    return [
      ...sizes,
      ...(await measureLoads(run, browser, url)),
      ...(await measurePages(run, signedIn, rows)),
    ]
  },
}

const credentials = { name: 'bench', password: 'a password for the bench' }

async function addOperator(database: Database, entityId: string): Promise<void> {
  const password = await hashPassword(credentials.password)
  await database.tx(async (db) => {
    const scope = { db, clock: { nowMs: Date.now }, actor: 'bench' }
    const member = await addMember(scope, { name: credentials.name, password })
    await grantRole(scope, member!, entityId, 'operator')
  })
}

async function signIn(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${url}/console/transactions`)
  await page.fill('input[autocomplete=username]', credentials.name)
  await page.fill('input[type=password]', credentials.password)
  await page.click('button[type=submit]')
  await page.waitForSelector('a[data-row]')
  return page
}

function sizesOf(folder: string): Figure[] {
  const kilobytesOf = (kind: RegExp) =>
    readdirSync(folder)
      .filter((name) => kind.test(name))
      .reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length / 1_000, 0)
  const sized = (name: string, kind: RegExp, max: number): Figure => ({
    name: `console: ${name}, compressed`,
    measured: { value: kilobytesOf(kind), unit: 'kB' },
    promise: { max },
    coresBusy: 0,
  })
  return [sized('scripts of all pages', /\.js$/, 240), sized('styles', /\.css$/, 14)]
}

/** Loads of the first page into a browser that has nothing of it: until something is painted, and until it takes input. */
async function measureLoads(run: Run, browser: Browser, url: string): Promise<Figure[]> {
  const paints: number[] = []
  const inputs: number[] = []
  const busy = measureBusyCores()
  for (let round = 0; round < run.amount(15, 7, 1); round++) {
    const context: BrowserContext = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${url}/console`)
    await page.waitForSelector('input[type=password]')
    inputs.push(await page.evaluate<number>('performance.now()'))
    paints.push(
      await page.evaluate<number>(
        `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
          .observe({ type: 'paint', buffered: true }))`,
      ),
    )
    await context.close()
  }
  const coresBusy = busy()
  const timed = (name: string, times: number[], max: number): Figure => ({
    name: `console: ${name}, cold, from loopback`,
    measured: { value: median(times), unit: 'ms' },
    promise: { max },
    coresBusy,
  })
  return [timed('first paint', paints, 300), timed('first page takes input', inputs, 1_000)]
}

/** Further pages of the list: the script of each, first ones beside later ones. */
async function measurePages(run: Run, page: Page, rows: number): Promise<Figure[]> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const scriptMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'ScriptDuration')!.value * 1_000
  }
  const times: number[] = []
  const busy = measureBusyCores()
  for (let turn = 0; turn < run.amount(60, 30, 2); turn++) {
    const last = await page.locator('a[data-row]').last().getAttribute('href')
    const before = await scriptMs()
    await page.keyboard.press(']')
    while ((await page.locator('a[data-row]').last().getAttribute('href')) === last) await sleep(20)
    times.push((await scriptMs()) - before)
  }
  const part = Math.ceil(times.length / 3)
  const [first, later] = [median(times.slice(0, part)), median(times.slice(-part))]
  return [
    {
      name: `console: script for 50 further rows of ${rows.toLocaleString('en')}, after ${times.length} pages`,
      measured: { value: later, unit: 'ms' },
      reference: { what: 'first pages', value: first, unit: 'ms' },
      ratio: later / first,
      promise: { max: 100 },
      coresBusy: busy(),
    },
  ]
}
