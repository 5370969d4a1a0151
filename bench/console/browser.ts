import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { addMember, grantRole, hashPassword } from '#identity/members/index'
import type { Database } from '#runtime/db/db'

const credentials = { name: 'bench', password: 'a password for the bench' }

export async function addOperator(database: Database, entityId: string): Promise<void> {
  const password = await hashPassword(credentials.password)
  await database.tx(async (db) => {
    const scope = { db, clock: { nowMs: Date.now }, actor: 'bench' }
    const member = await addMember(scope, { name: credentials.name, password })
    await grantRole(scope, member!, entityId, 'operator')
  })
}

/** A page in a browser of its own. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    viewport: { width: 1440, height: 900 },
  })
  const page = await context.newPage()
  await page.goto(`${url}/console`)
  return page
}

/** Signs the operator in. */
export async function signIn(page: Page): Promise<void> {
  await page.fill('input[autocomplete=username]', credentials.name)
  await page.fill('input[type=password]', credentials.password)
  await page.click('button[type=submit]')
  await page.waitForSelector('nav.side')
}

/** Measurements of a page by the browser itself. */
export type Meter = { scriptMs(): Promise<number>; heapMb(): Promise<number> }

export async function openMeter(page: Page): Promise<Meter> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  return {
    scriptMs: async () => (await metric(session, 'ScriptDuration')) * 1_000,
    /** The heap that is in use, after a collection of garbage. */
    heapMb: async () => {
      await session.send('HeapProfiler.collectGarbage')
      return (await metric(session, 'JSHeapUsedSize')) / 1e6
    },
  }
}

async function metric(session: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)!.value
}

/** Opens a path on the page, in front: a page behind others paints nothing. */
export async function openPath(page: Page, path: string): Promise<void> {
  await page.bringToFront()
  await page.mouse.move(0, 0)
  await page.goto(new URL(`/console${path}`, page.url()).href)
  await untilTrue(
    page,
    `document.querySelector('main h1') !== null && document.querySelector('main .skeleton') === null`,
  )
}

/** Waits for an expression of the page: its policy lets none be evaluated by itself. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate<boolean>(expression))) await sleep(20)
}
