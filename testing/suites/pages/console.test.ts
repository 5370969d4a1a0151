import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeWallet, worldOf } from '#testing/builders/world'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let browser: Browser
let context: BrowserContext
let page: Page
/** Requests of the page that could change something. */
let written: string[] = []
/** The messages that the page wrote to the browser's console. */
let complaints: string[] = []

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  if (chromiumPath) browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await harness?.close()
})
beforeEach(async () => {
  if (!chromiumPath) return
  context = await browser.newContext()
  page = await context.newPage()
  await page.clock.install()
  written = []
  complaints = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (request.method() !== 'GET') written.push(`${request.method()} ${request.url()}`)
  })
})
afterEach(async () => {
  await context?.close()
  expect(written).toEqual([])
})

const inChromium = it.runIf(chromiumPath)

const newWallet = () => makeWallet(worldOf(harness))

async function open(section: string, { apiKey }: Pick<Tenant, 'apiKey'> = harness) {
  await page.goto(`${harness.url}/console#${section}`)
  await use(apiKey)
}

async function use(apiKey: string) {
  await page.fill('#key', apiKey)
  await page.click('#session button')
}

/** The text of the page, except the key. */
const shown = async () => (await page.textContent('main')) ?? ''
const untilShown = (text: string) => until(async () => (await shown()).includes(text), `${text} is shown`)

/** Advances the page's clock so that it refreshes itself, and waits for the server's response. */
async function refresh() {
  const asked = page.waitForResponse((response) => new URL(response.url()).pathname.startsWith('/v1/'))
  await page.clock.runFor(2_000)
  await asked
}

const focused = () => page.evaluate('document.activeElement.textContent')

describe('the console', () => {
  it('answers at /console and at /console/', async () => {
    for (const path of ['/console', '/console/']) {
      const response = await fetch(harness.url + path)
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=utf-8',
      ])
      expect(await response.text()).toContain('read-only viewer')
    }
  })

  inChromium('is called a read-only viewer, loads at /console/ and complains of nothing', async () => {
    const { address } = await newWallet()
    await page.goto(`${harness.url}/console/#wallets`)
    expect(await page.textContent('h1')).toBe('Bezant read-only viewer')
    await untilShown('Enter an API key')
    await use(harness.apiKey)
    await untilShown(address)
    expect(await page.title()).toContain('read-only')
    // Without a sandbox there are no public credentials: the page requests them, gets 404, and reports no error.
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
  })

  inChromium('asks for no section before the sandbox has told its key', async () => {
    let tell: (() => Promise<void>) | undefined
    const data = { apiKey: harness.apiKey, chains: [] }
    await page.route('**/sandbox', (route) => {
      tell = () => route.fulfill({ json: { data } })
    })
    const { address } = await newWallet()
    await page.goto(`${harness.url}/console`)
    await until(() => tell !== undefined, 'the sandbox is asked')
    await page.evaluate('location.hash = "wallets"')
    // The page has its new address once a later request is answered.
    await page.evaluate("fetch('/ping').then((response) => response.text())")
    await tell!()
    await untilShown(address)
    expect(complaints).toEqual([])
  })

  inChromium('keeps a key that is typed before the sandbox answers', async () => {
    let answer: (() => Promise<void>) | undefined
    await page.route('**/sandbox', (route) => {
      answer = () => route.continue()
    })
    await page.goto(`${harness.url}/console#wallets`)
    await until(() => answer !== undefined, 'the sandbox is asked')
    await page.fill('#key', 'TEST_API_KEY:half')
    const answered = page.waitForResponse('**/sandbox')
    await answer!()
    await (await answered).finished()
    await untilShown('Enter an API key above')
    expect(await page.inputValue('#key')).toBe('TEST_API_KEY:half')
  })

  inChromium('tells a person that the key is not known, also one that was copied in part', async () => {
    for (const apiKey of [`${harness.apiKey}0`, `${harness.apiKey.slice(0, -8)}…`]) {
      await open('wallets', { apiKey })
      await untilShown('Unknown API key')
      expect(await shown()).not.toContain('Authorization')
    }
  })

  inChromium('has all sections in one line at 1280 pixels', async () => {
    await page.setViewportSize({ width: 1280, height: 720 })
    await page.goto(`${harness.url}/console`)
    await until(async () => (await page.locator('#sections a').count()) === 7, 'the sections are there')
    const tops = 'new Set([...document.querySelectorAll("#sections a")].map(({ offsetTop }) => offsetTop))'
    expect(await page.evaluate(`${tops}.size`)).toBe(1)
  })

  inChromium(
    'redraws when the section changes, also while a row has the focus and text is selected',
    async () => {
      const { address } = await newWallet()
      await open('wallets')
      await untilShown(address)
      await page.click(`text=${address}`)
      await page.evaluate('getSelection().selectAllChildren(document.querySelector("#view"))')
      await page.evaluate('location.hash = "payouts"')
      await untilShown('No payouts yet')
      expect(await shown()).not.toContain(address)
      expect(await page.textContent('[aria-current]')).toBe('Payouts')
    },
  )

  inChromium('goes on refreshing with a row open, which keeps the focus', async () => {
    const wallet = await newWallet()
    await open('wallets')
    await untilShown(wallet.address)
    await page.click(`text=${wallet.address}`)
    await untilShown(`"id": "${wallet.id}"`)
    const second = await newWallet()
    await harness.http('PUT', `/v1/w3s/wallets/${wallet.id}`, { body: { name: 'Renamed' } })
    await refresh()
    await untilShown(second.address)
    expect(await focused()).toContain(wallet.address)
    await untilShown('"name": "Renamed"')
  })

  inChromium('keeps the focus on a link while it refreshes', async () => {
    await open('payouts')
    await untilShown('No payouts yet')
    await page.focus('#sections a[href="#recipients"]')
    await refresh()
    await refresh()
    expect(await focused()).toBe('Recipients')
  })

  inChromium('forgets what an old key showed, also when the new key is refused', async () => {
    const wallet = await newWallet()
    const other = await harness.newEntity()
    for (const apiKey of [other.apiKey, `${other.apiKey.slice(0, -4)}0000`]) {
      await open('wallets')
      await untilShown(wallet.address)
      await page.click(`text=${wallet.address}`)
      await untilShown(`"id": "${wallet.id}"`)
      const answered = page.waitForResponse(`${harness.url}/v1/w3s/wallets`)
      await use(apiKey)
      expect(await shown()).not.toContain(wallet.address)
      await answered
      await until(async () => (await shown()).trim() !== '', 'the answer is shown')
      expect(await shown()).not.toMatch(new RegExp(`${wallet.address}|${wallet.id}`))
    }
  })

  inChromium('drops the answer to an old key that comes after a new key was given', async () => {
    const wallet = await newWallet()
    const other = await harness.newEntity()
    let held: (() => Promise<void>) | undefined
    await page.route('**/v1/w3s/wallets', async (route) => {
      const isOld = route.request().headers()['authorization']?.includes(harness.apiKey) ?? false
      if (isOld && !held) held = () => route.continue()
      else await route.continue()
    })
    await open('wallets')
    await until(() => held !== undefined, 'the old key has asked')
    await use(other.apiKey)
    await untilShown('No wallets yet')
    const late = page.waitForResponse(`${harness.url}/v1/w3s/wallets`)
    await held!()
    await (await late).finished()
    // The page has processed the late answer once a later request is answered.
    await page.evaluate("fetch('/ping').then((response) => response.text())")
    expect(await shown()).not.toContain(wallet.address)
  })
})
