/** The documents that the program serves: every page and link of them, and in a real browser the search, the copy buttons and their looks. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ListeningServer, startApi } from '#context'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { builtConsole } from '#testing/pages/built-console'
import { openConsole } from '#testing/pages/console-page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { root } from '#testing/runner/root'
import { sizeOf } from '#testing/runner/size'

let harness: Harness
let production: ListeningServer

beforeAll(async () => {
  await builtConsole()
  harness = await openHarness({ engines: false })
  production = await startApi(harness.ctx)
})
afterAll(async () => {
  await production?.stop()
  await harness?.close()
})

const addresses = (readdirSync(join(root, 'docs'), { recursive: true }) as string[])
  .filter((name) => name.endsWith('.md'))
  .map((name) => `/docs/${name}`.replace(/(\/README)?\.md$/, ''))

const get = (path: string, url = harness.url) => httpAs(url, undefined)('GET', path)

describe('the documents', () => {
  it('are pages with one heading of the first rank, whose links and anchors lead somewhere', async () => {
    const pages = new Map<string, string>()
    for (const address of addresses) {
      const { status, text, headers } = await get(address)
      expect([address, status, text.match(/<h1[ >]/g)?.length]).toEqual([address, 200, 1])
      expect(headers.get('content-security-policy')).toContain("trusted-types 'none'")
      pages.set(address, text)
    }
    const elsewhere = new Set<string>()
    for (const [address, text] of pages)
      for (const [, link] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        const { origin, pathname, hash } = new URL(link!, harness.url + address)
        if (origin !== harness.url) {
          expect(link, `${address} loads or links ${link}`).toMatch(/^(https?|mailto):/)
          continue
        }
        const target = pages.get(pathname)
        if (target === undefined) elsewhere.add(pathname)
        else if (hash !== '') expect(target, `${address} links ${link}`).toContain(` id="${hash.slice(1)}"`)
      }
    expect([...elsewhere]).toEqual(
      expect.arrayContaining(['/console', '/docs/reference', '/docs/timeline.svg']),
    )
    for (const path of elsewhere) expect([path, (await get(path)).status]).toEqual([path, 200])
  })

  it('are all in the side bar but the single decisions, and the current one is marked', async () => {
    const { text } = await get('/docs/lab')
    const [, side] = /<nav class="side"([\s\S]+?)<\/nav>/.exec(text)!
    const listed = [...side!.matchAll(/href="([^"]+)"/g)].map(([, link]) => link)
    expect(
      addresses.filter((address) => !/\/docs$|\/decisions\/\d/.test(address) && !listed.includes(address)),
    ).toEqual([])
    expect(side!.match(/<a [^>]*aria-current/g)).toEqual(['<a href="/docs/lab" aria-current'])
  })

  it('fill snippets with the address and the key of a sandbox, and on a server with its address alone', async () => {
    const codeOf = async (url: string, path: string) =>
      /<code>([\s\S]+?)<\/code><\/pre>/.exec((await get(path, url)).text)![1]!
    for (const [url, key] of [
      [harness.url, harness.apiKey],
      [production.url, 'YOUR_API_KEY'],
    ] as const) {
      expect(await codeOf(url, '/docs/accept-a-payment')).toContain(`API=${harness.url}\nKEY=${key}\n`)
      expect(await codeOf(url, '/docs/smart-accounts')).toContain(
        `&quot;${harness.url}/v1/w3s/developer/wallets&quot; -H &quot;Authorization: Bearer ${key}&quot;`,
      )
    }
    for (const address of addresses)
      expect((await get(address, production.url)).text).not.toContain(harness.apiKey)
  })

  it('name the nearest page at an address without one', async () => {
    const { status, text, headers } = await get('/docs/user-walets')
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(text).toContain('Did you mean <a href="/docs/user-wallets">User-controlled wallets</a>?')
    const hostile = await get('/docs/%3Cscript%3Ealert(1)%3C/script%3E')
    expect(hostile.status).toBe(404)
    expect(hostile.text).not.toContain('<script>alert')
  })

  it('are not sent again to those who have them', async () => {
    for (const path of ['/docs', '/docs/reliability', '/docs/search.json', '/docs/timeline.svg']) {
      const etag = (await get(path)).headers.get('etag')
      const again = await httpAs(harness.url, undefined)('GET', path, {
        headers: { 'if-none-match': String(etag) },
      })
      expect([path, again.status, again.text]).toEqual([path, 304, ''])
    }
  })
})

describe.runIf(chromiumPath)('the documents in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it('are found by their words, copied with the key, and shown in the chosen theme', async () => {
    const { page, context, when, complaints } = await openConsole(browser, harness.url)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${harness.url}/docs`)
    await page.keyboard.press('/')
    await page.keyboard.type('restore point in time')
    await page.waitForSelector('.found a:has-text("Restore to a point in time")')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/operate#restore-to-a-point-in-time')
    await page.goto(`${harness.url}/docs/accept-a-payment`)
    await page.click('.snippet >> nth=0 >> text=Copy')
    await page.waitForSelector('text=Copied')
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied).toContain(`API=${harness.url}\nKEY=${harness.apiKey}\npost() {`)
    await page.click('text=Theme: auto')
    await page.click('text=Theme: light')
    await page.reload()
    await when(`document.documentElement.dataset.theme === 'dark'`)
    await context.close()
    expect(complaints).toEqual([])
  })

  const sample = ['/docs', '/docs/accept-a-payment', '/docs/chains', '/docs/smart-accounts', '/docs/nowhere']
  const shown = sizeOf('DOCS_SHOWN', { usual: sample.length, deep: sample.length + addresses.length })
  for (const [name, options] of Object.entries({
    'in light': {},
    'in dark': { colorScheme: 'dark' },
    'on a phone': { width: 390, height: 844 },
  } as const))
    it(`hinder nobody ${name}, ask no other host, and fit the screen`, async () => {
      const { page, context, hindrances, complaints } = await openConsole(browser, harness.url, options)
      for (const address of [...sample, ...addresses].slice(0, shown)) {
        await page.goto(harness.url + address)
        await page.waitForSelector('button.theme:visible')
        expect(await hindrances(), address).toEqual([])
        const { scrollWidth, clientWidth } = (await page.evaluate('document.documentElement')) as never
        expect(scrollWidth, `${address} is as wide as the screen`).toBe(clientWidth)
      }
      if (name === 'on a phone') {
        await page.click('.open-pages')
        await page.click('nav.side a:text-is("Smart accounts")')
        await page.waitForURL('**/docs/smart-accounts')
        await page.click('.open-sections')
        await page.click('nav.toc a:text-is("How it runs")')
        await page.waitForURL('**/docs/smart-accounts#how-it-runs')
      }
      await context.close()
      expect(complaints).toEqual([])
    })

  it('are readable without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${harness.url}/docs/smart-accounts`)
    await page.click('nav.side a:text-is("Contract templates")')
    await page.waitForURL('**/docs/contract-templates')
    expect(await page.locator('.search').isVisible()).toBe(false)
    await context.close()
  })
})
