import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import type { Figure } from '../figures.ts'
import type { Run } from '../run.ts'
import { untilTrue } from './browser.ts'

/** Sizes of the files that all pages together load, as they are sent. The frame of the documents is none of them. */
export function sizesOf(folder: string): Figure[] {
  const kilobytesOf = (kind: RegExp) =>
    readdirSync(folder)
      .filter((name) => kind.test(name))
      .reduce((sum, name) => sum + gzipSync(readFileSync(`${folder}/${name}`)).length / 1_000, 0)
  const sized = (name: string, kind: RegExp, max: number): Figure => ({
    name: `console: ${name}, compressed`,
    measured: { value: kilobytesOf(kind), unit: 'kB' },
    promise: { max },
    coresBusy: 0,
  })
  return [sized('scripts of all pages', /^(?!docs-).*\.js$/, 240), sized('styles', /^(?!docs-).*\.css$/, 14)]
}

/** The scripts that each page of the side bar loads by itself, into a browser that has nothing of it. */
export async function measureRoutes(run: Run, signedIn: Page): Promise<Figure[]> {
  const listed = await signedIn
    .locator('nav.side a[href^="/console"]')
    .evaluateAll((all) => all.map((link) => link.pathname))
  const links = [...new Set(listed)]
  const kilobytes = new Map<string, number>()
  for (const path of links.slice(0, run.amount(links.length, 6, 2))) {
    const page = await signedIn.context().newPage()
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    let bytes = 0
    session.on('Network.responseReceived', ({ type, response }) => {
      if (type === 'Script') bytes += Number(response.headers['content-length'] ?? 0)
    })
    await page.goto(new URL(path, signedIn.url()).href)
    await untilTrue(
      page,
      `document.querySelector('main h1') !== null && document.querySelector('main .skeleton') === null`,
    )
    kilobytes.set(path.replace(/^\/console/, '') || '/', bytes / 1_000)
    await page.close()
  }
  run.report([...kilobytes].map(([path, size]) => `${path} ${size.toFixed(1)} kB`).join(', '))
  const [first] = kilobytes.values()
  const [path, most] = [...kilobytes].reduce((one, other) => (other[1] > one[1] ? other : one))
  return [
    {
      name: `console: scripts of the page that loads the most of ${kilobytes.size}, ${path}`,
      measured: { value: most, unit: 'kB' },
      reference: { value: first!, unit: 'kB', what: 'overview' },
      ratio: most / first!,
      promise: { max: 75 },
      coresBusy: 0,
    },
  ]
}
