import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { startPage } from '#context'
import { openHarness } from '#testing/platform/harness'
import { openBrowser } from './browser.ts'

export type OpenedPage = { page: Page; outside: string[]; broken: string[] }

/** A platform with two chains, and a browser that opens its payment pages, one at a time. */
export async function openPaymentPages() {
  const blockchains = ['BASE-SEPOLIA', 'MATIC-AMOY'] as const
  // A payment on the second chain needs the two confirmations of its public network.
  const node = async ({ blockchain }: { blockchain: string }) => ({ local: blockchain === 'BASE-SEPOLIA' })
  const [harness, browser] = await Promise.all([openHarness({ blockchains, node }), openBrowser()])
  const pages = await startPage(harness.ctx)
  let context: BrowserContext | undefined

  /** Opens an intent with a page; `address` is that of all its chains. */
  async function openIntent(amount: string | undefined, contents: object = {}) {
    const kind = amount
      ? { type: 'transient', amount: { amount, currency: 'USD' } }
      : { type: 'continuous', currency: 'USD' }
    const { body } = await harness.http('POST', '/v1/paymentIntents', {
      body: {
        idempotencyKey: randomUUID(),
        ...kind,
        settlementCurrency: 'USD',
        paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
      },
    })
    const { id } = body.data
    const texts = { merchantName: 'Corner Books', returnUrl: 'https://shop.example/orders/1042' }
    const page = await harness.http('PUT', `/v1/paymentIntents/${id}/page`, {
      body: { ...texts, chains: ['POLY'], ...contents },
    })
    expect(page.status, page.text).toBe(200)
    const { pathname } = new URL(page.body.data.url)
    return { id, url: pages.url + pathname, address: page.body.data.paymentMethods[0].address as string }
  }

  /** Opens a link in a browser of its own, as a phone; `prepare` gets the page before it is loaded. */
  async function visit(
    url: string,
    options: Parameters<Browser['newContext']>[0] = {},
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<OpenedPage> {
    await context?.close()
    const phone = { viewport: { width: 360, height: 740 } }
    context = await browser.newContext({ ...phone, reducedMotion: 'reduce', ...options })
    const page = await context.newPage()
    const outside: string[] = []
    const broken: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(pages.url) && !request.url().startsWith('data:'))
        outside.push(request.url())
    })
    page.on('console', (message) => message.type() === 'error' && broken.push(message.text()))
    page.on('pageerror', (error) => broken.push(error.message))
    page.on('dialog', (dialog) => broken.push(dialog.message()))
    await prepare?.(page)
    await page.goto(url)
    return { page, outside, broken }
  }

  return {
    harness,
    pages,
    openIntent,
    visit,
    closePage: async () => context?.close(),
    close: async () => {
      await browser.close()
      await pages.stop()
      await harness.close()
    },
  }
}

export const reads = (page: Page, text: string) => page.getByText(text, { exact: false }).first().waitFor()
export const stageIs = (page: Page, stage: string) => page.locator(`#page[data-stage=${stage}]`).waitFor()
