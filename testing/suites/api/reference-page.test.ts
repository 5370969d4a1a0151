import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi } from '#context'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const inChromium = it.runIf(chromiumPath)

inChromium('tries operations of a sandbox out with its public key', async () => {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`${harness.url}/docs/reference#/Configuration/getConfiguration`)
    await page.click('.try-out__btn')
    await page.click('.execute')
    const [, { masterWalletId }] = await Promise.all([
      page.waitForSelector('.live-responses-table .response-col_status:has-text("200")'),
      harness.http('GET', '/v1/configuration').then(({ body }) => body.data.payments),
    ])
    expect(await page.textContent('.live-responses-table')).toContain(masterWalletId)
  } finally {
    await browser.close()
  }
})

inChromium('tries an operation out that needs a ciphertext, which the sandbox makes', async () => {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`${harness.url}/docs/reference#/Wallet%20sets/createWalletSet`)
    await page.click('.try-out__btn')
    await page.click('.execute')
    await page.waitForSelector('.live-responses-table .response-col_status:has-text("201")')
    const { body } = await harness.http('GET', '/v1/w3s/walletSets')
    expect(await page.textContent('.live-responses-table')).toContain(body.data.walletSets[0].id)
  } finally {
    await browser.close()
  }
})

it('puts no key into the page of a production server', async () => {
  const script = '/docs/reference/static/swagger-initializer.js'
  const page = async (url: string) => (await httpAs(url, undefined)('GET', script)).text
  expect(await page(harness.url)).toContain(harness.apiKey)
  const production = await startApi(harness.ctx)
  try {
    expect(await page(production.url)).not.toMatch(/API_KEY|preauthorize|Ciphertext/)
  } finally {
    await production.stop()
  }
})

it('describes the API at every address of the page, with the address of the server', async () => {
  const plain = httpAs(harness.url, undefined)
  const answers = await Promise.all(['/openapi.json', '/docs/json'].map((path) => plain('GET', path)))
  for (const { status, body } of answers)
    expect([status, body.servers, body.openapi]).toEqual([200, [{ url: harness.url }], '3.0.3'])
  const yaml = await plain('GET', '/docs/yaml')
  expect(yaml.text).toContain('operationId: createPaymentIntent')
})
