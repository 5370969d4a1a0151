/** The console of a sandbox in a real browser, as a stranger uses it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import { chromiumPath } from '#testing/pages/browser'
import { act, actByKeys, dialogClosed, makeFundedWallet } from '#testing/pages/console-acts'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'
import { until } from '#testing/platform/until'
import type { Program } from '#testing/processes/program'
import { root } from '#testing/runner/root'

let sandbox: ConsoleSandbox
let program: Program

beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox('BASE-SEPOLIA')
  program = sandbox.program
})
afterAll(() => sandbox?.close())
afterEach(async () => expect((await sandbox?.closePages()) ?? []).toEqual([]))

const inChromium = it.runIf(chromiumPath)

const console = (options: Parameters<ConsoleSandbox['open']>[0] = {}) => sandbox.open(options)
const call = async (method: string, path: string, body?: object) => {
  const { status, body: answer, text } = await program.tenant.http(method, path, { body })
  expect(status, text).toBeLessThan(300)
  return answer.data
}
const openStream = () =>
  fetch(`${program.answer.url}/operator/events/stream`, {
    headers: { Authorization: `Bearer ${program.answer.apiKey}` },
  })
const trigger = (event: string) => call('POST', '/sandbox/triggers', { event })

/** Every page of the console, with an `:id` where it shows one resource. */
const lists = [
  '/',
  '/movements',
  '/wallets',
  '/wallet-sets',
  '/transactions',
  '/users',
  '/user-operations',
  '/contracts',
  '/balances',
  '/payment-intents',
  '/payments',
  '/payouts',
  '/transfers',
  '/deposits',
  '/address-book',
  '/notifications',
  '/webhooks',
  '/business-webhooks',
  '/requests',
  '/events',
  '/keys',
  '/reviews',
  '/screenings',
  '/screening-lists',
  '/audit',
  '/policy',
  '/accounts',
  '/reconcile',
  '/chains',
  '/lab/faults',
  '/lab/clock',
  '/lab/snapshots',
  '/lab/chains',
  '/lab/catcher',
  '/lab/triggers',
  '/nowhere',
] as const

describe('the console of a sandbox', () => {
  inChromium(
    'answers every address below /console with the page, under its policy, and assets for good',
    async () => {
      for (const path of ['/console', '/console/', '/console/movements/some/deep/link']) {
        const response = await fetch(program.answer.url + path)
        expect([response.status, response.headers.get('content-type')]).toEqual([
          200,
          'text/html; charset=utf-8',
        ])
        expect(response.headers.get('cache-control')).toBe('no-store')
        expect(response.headers.get('content-security-policy')).toContain(
          "require-trusted-types-for 'script'",
        )
      }
      const page = await (await fetch(`${program.answer.url}/console`)).text()
      const [, asset] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page)!
      const found = await fetch(program.answer.url + asset)
      expect(found.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      for (const path of ['/console/assets/none.js', '/console/assets/..%2findex.html'])
        expect((await fetch(program.answer.url + path)).status).toBe(404)
    },
  )

  inChromium('is small: scripts, styles and fonts stay within their budgets', async () => {
    const folder = join(root, 'console/dist/assets')
    const bytesOf = (kind: RegExp) =>
      readdirSync(folder)
        .filter((name) => kind.test(name))
        .reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
    expect(bytesOf(/\.js$/)).toBeLessThan(240_000)
    // The frame of the documents is built beside the console, which does not load its own files.
    expect(bytesOf(/^(?!docs-).*\.css$/)).toBeLessThan(14_000)
    expect(bytesOf(/^docs-.*\.(css|js)$/)).toBeLessThan(6_000)
    expect(bytesOf(/latin-wght.*\.woff2$/)).toBeLessThan(56_000)
    const { page, open } = await console()
    let first = 0
    page.on('response', async (response) => {
      if (response.url().endsWith('.js'))
        first += Number((await response.allHeaders())['content-length'] ?? 0)
    })
    await open('/')
    expect(first).toBeGreaterThan(20_000)
    expect(first).toBeLessThan(75_000)
  })

  inChromium(
    'leads a stranger from a first start to a complete transfer and its timeline, without a reload',
    async () => {
      const shown = await console()
      const { page, open, shows } = shown
      await open('/')
      await shows('Overview')
      expect(await call('GET', '/operator/movements')).toEqual([])
      await page.evaluate('globalThis.isFirstLoad = true')
      await page.click('nav a:text-is("Catcher")')
      await act(shown, 'Subscribe an inbox')
      await shows('receives notifications')
      await makeFundedWallet(shown, 'payroll-01')
      const to = freshAddress()
      await act(shown, 'Transfer', { Token: 'USDC', Amount: '12.5', To: to })
      await page.waitForURL('**/console/movements/*')
      await page.waitForSelector('.head .status:has-text("COMPLETE")')
      for (const lane of [
        'POST ',
        'Idempotency key',
        'Policy',
        'Screening',
        'Hold of the amount',
        'Attempt 1',
        'Block ',
        'Ledger',
        '/sandbox/catcher/inbox',
      ])
        await shows(lane)
      expect(await page.evaluate('globalThis.isFirstLoad')).toBe(true)
      const [movement] = await call('GET', `/operator/movements?address=${to}`)
      expect(movement).toMatchObject({ state: 'COMPLETE', amounts: ['12.5'] })
      expect(page.url()).toContain(movement.id)
    },
  )

  inChromium(
    'moves the clock, makes and clears faults, mines, saves and restores with one key each',
    async () => {
      const { page, open, shows } = await console()
      await open('/lab/faults')
      await page.click('button:has-text("slow-network")')
      await shows('The plan slow-network is at work.')
      await page.click('button:has-text("Clear")')
      await shows('There are no faults any more.')
      const before = await call('GET', '/sandbox/clock')
      await page.keyboard.press('!')
      await shows('became due on the way')
      expect((await call('GET', '/sandbox/clock')).offsetMs - before.offsetMs).toBeGreaterThanOrEqual(
        3_599_000,
      )
      await page.keyboard.press('M')
      await shows('A block is mined on 1 chain.')
      await page.keyboard.press('S')
      await shows('Saved as saved-1')
      await call('POST', '/v1/w3s/users', { userId: 'made-after-the-save' })
      await page.keyboard.press('Z')
      await shows('saved-1 is restored')
      expect((await program.tenant.http('GET', '/v1/w3s/users/made-after-the-save')).status).toBe(404)
      await page.keyboard.press('F')
      await shows('Time stands still.')
      await page.keyboard.press('F')
      await shows('Time passes again.')
    },
  )

  inChromium('shows what happens as it happens, and moves no row under the pointer', async () => {
    await trigger('payment.paid')
    const { page, open, shows, when } = await console()
    await open('/payments')
    await shows('Live')
    const rows = () => page.locator('a[data-row]').count()
    const first = await rows()
    await trigger('payment.paid')
    await when(`document.querySelectorAll('a[data-row]').length > ${first}`)
    const shown = await rows()
    await page.hover('tbody tr >> nth=0')
    await trigger('payment.paid')
    await shows('1 new row')
    expect(await rows()).toBe(shown)
    await page.click('text=1 new row')
    await when(`document.querySelectorAll('a[data-row]').length > ${shown}`)
  })

  inChromium(
    'is used by the keyboard alone from the first wallet to the timeline of its transfer',
    async () => {
      const shown = await console()
      const { page, open, shows } = shown
      await open('/')
      await page.keyboard.press('/')
      await page.keyboard.type('Wallet sets')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/console/wallet-sets')
      await actByKeys(shown, 'Create a wallet set', { Name: 'made by keys' })
      await shows('The wallet set is created.')
      await page.keyboard.press('g')
      await page.keyboard.press('w')
      await page.waitForURL('**/console/wallets')
      await actByKeys(shown, 'Create wallets', { Name: 'by keys alone' })
      await shows('by keys alone')
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/console/wallets/*')
      await actByKeys(shown, 'Fund', { Amount: '20' })
      await dialogClosed(shown)
      await actByKeys(shown, 'Fund', { Token: 'NATIVE', Amount: '1' })
      await dialogClosed(shown)
      for (const balance of ['20.000000USDC', '1ETH-SEPOLIA'])
        await until(
          async () => (await page.textContent('main'))?.replaceAll(/\s+/g, '').includes(balance) ?? false,
          balance,
        )
      const to = freshAddress()
      await actByKeys(shown, 'Transfer', { Token: 'USDC', Amount: '2.5', To: to })
      await page.waitForURL('**/console/movements/*')
      await page.waitForSelector('.head .status:has-text("COMPLETE")')
      await page.keyboard.press('t')
      await page.waitForSelector('ol.steps li')
      expect(await call('GET', `/operator/movements?address=${to}`)).toMatchObject([{ amounts: ['2.5'] }])
    },
  )

  inChromium('is used by the keyboard alone: sections, rows, find, and back', async () => {
    await trigger('transaction.complete')
    const { page, open, shows } = await console()
    await open('/')
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.waitForURL('**/console/movements')
    await page.waitForSelector('a[data-row]')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/movements/*')
    await shows('Timeline')
    await page.keyboard.press('t')
    await page.waitForSelector('ol.steps li')
    await page.goBack()
    await page.waitForURL('**/console/movements')
    await page.keyboard.press('/')
    await page.waitForSelector('dialog[open] input:focus')
    await page.keyboard.type('faul')
    await page.waitForSelector('[role=option] >> text=Faults')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/lab/faults')
    await page.keyboard.press('?')
    await shows('next and previous row')
    await page.keyboard.press('Escape')
    expect(await page.locator('dialog').count()).toBe(0)
  })

  inChromium('keeps one stream of events for eight tabs', async () => {
    const first = await console()
    await first.open('/events')
    await first.shows('Live')
    for (let tab = 1; tab < 8; tab += 1) {
      const page = await first.context.newPage()
      await page.goto(`${program.answer.url}/console/events`)
      await until(async () => (await page.textContent('body'))?.includes('Live') ?? false, 'the tab is live')
    }
    // A key may have eight streams: seven more are open beside that of all tabs, and the next one is refused.
    await until(async () => {
      // A closed stream counts until the server has noticed.
      await sleep(2_000)
      const streams = await Promise.all(Array.from({ length: 8 }, openStream))
      await Promise.all(streams.map(({ body }) => body?.cancel()))
      return streams.filter(({ status }) => status === 200).length === 7
    }, 'all tabs together have one stream')
  })

  for (const [name, options] of Object.entries({
    'in light': {},
    'in dark': { colorScheme: 'dark' },
    'on a phone': { width: 390, height: 844 },
  } as const))
    inChromium(`hinders nobody on any screen ${name}, and breaks no rule of its policy`, async () => {
      const { made } = await trigger('transaction.complete')
      const transaction = made.find(({ kind }: { kind: string }) => kind === 'transaction').id
      const wallet = made.find(({ kind }: { kind: string }) => kind === 'wallet').id
      const [request] = await call('GET', '/operator/requests?pageSize=1')
      const page = await console(options)
      for (const path of [
        ...lists,
        `/movements/${transaction}`,
        `/wallets/${wallet}`,
        `/requests/${request.id}`,
      ]) {
        await page.open(path)
        expect(await page.hindrances(), path).toEqual([])
        const { scrollWidth, clientWidth } = (await page.page.evaluate('document.documentElement')) as never
        expect(scrollWidth, `${path} is as wide as the screen`).toBe(clientWidth)
      }
    })
})
