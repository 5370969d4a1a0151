/** Screens of the console for files: payouts from one, and exports of the books. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { chromiumPath } from '#testing/pages/browser'
import { act } from '#testing/pages/console-acts'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'
import { until } from '#testing/platform/until'

let sandbox: ConsoleSandbox
let recipients: { id: string; address: string }[]
beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox('BASE-SEPOLIA')
  recipients = []
  for (const digit of ['a', 'b']) {
    const address = `0x${digit.repeat(40)}`
    const { id } = await call('POST', '/v1/addressBook/recipients', {
      idempotencyKey: randomUUID(),
      chain: 'BASE',
      address,
      metadata: { nickname: `Supplier ${digit}` },
    })
    await until(
      async () => (await call('GET', `/v1/addressBook/recipients/${id}`)).status === 'active',
      'the recipient is active',
    )
    recipients.push({ id, address })
  }
  await call('POST', '/v1/mocks/payments/wire', {
    trackingRef: 'CIR2Y3BBTP',
    amount: { amount: '100.00', currency: 'USD' },
    beneficiaryBank: { accountNumber: '11111111111' },
  })
  await until(
    async () => (await call('GET', '/v1/businessAccount/balances')).available[0]?.amount === '100.00',
    'there is money to pay with',
  )
})
afterAll(() => sandbox?.close())
afterEach(async () => expect((await sandbox?.closePages()) ?? []).toEqual([]))

const inChromium = it.runIf(chromiumPath)
const call = async (method: string, path: string, body?: object) => {
  const { status, body: answer, text } = await sandbox.program.tenant.http(method, path, { body })
  expect(status, text).toBeLessThan(300)
  return answer.data
}

const file = (...amounts: readonly string[]) =>
  `recipient,amount,currency,reference\n${amounts
    .map((amount, index) => `${recipients[index % 2]!.id},${amount},USD,invoice ${index + 1}\n`)
    .join('')}`

inChromium(
  'property 257: a file is uploaded, shows what is wrong, and is paid once it is approved',
  async () => {
    const shown = await sandbox.open()
    const { page, open, shows } = shown
    await open('/payout-files')
    await act(shown, 'Upload payouts', { Name: 'Bills', CSV: file('1.25', '"1,250"', '0.5') })
    await shows('Bills')
    await shows('separators of thousands')
    await shows('3, 1 with errors')
    expect(await page.locator('main button:has-text("Approve")').count()).toBe(0)
    await act(shown, 'Cancel')
    await shows('cancelled')

    await open('/payout-files')
    await page.locator('main button:has-text("Upload payouts")').first().click()
    await page.locator('dialog input[type=file]').setInputFiles({
      name: 'bills.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`\uFEFF${file('1.25', '0.75', '1.25').replaceAll('\n', '\r\n')}`),
    })
    await page.locator('dialog input:not([type=file])').fill('Bills again')
    await page.click('dialog[open] button[type=submit]')
    await shows('3.25 USD on BASE')
    await shows('as row 2')
    await act(shown, 'Approve')
    await shows('3 payouts, 0 failed, 0 not created')
    await until(
      async () =>
        (await call('GET', '/v1/payouts')).every(({ status }: { status: string }) => status === 'complete'),
      'the payouts are paid',
    )
    expect(
      (await call('GET', '/v1/payouts'))
        .map(({ amount }: { amount: { amount: string } }) => amount.amount)
        .sort(),
    ).toEqual(['0.75', '1.25', '1.25'])
    await shows('complete')
  },
)

inChromium('property 258: the books of a closed day are downloaded, and another day is refused', async () => {
  const { page, open, shows } = await sandbox.open()
  const { finalThrough } = await call('GET', '/operator/exports/days')
  await open('/exports')
  await shows(`The last closed day is ${finalThrough}`)
  const saved = page.waitForEvent('download')
  await page.click('main button[type=submit]')
  expect((await saved).suggestedFilename()).toBe(`journal-${finalThrough.slice(0, 8)}01-${finalThrough}.csv`)
  await shows('with the digest sha-256=')
  await page.selectOption('main select >> nth=0', 'statement')
  await page.locator('main input[type=date]').first().fill('2020-01-01')
  await page.click('main button[type=submit]')
  await shows('must be within 95 days')
})

for (const [name, options] of Object.entries({
  'in light': {},
  'in dark, on a phone': { colorScheme: 'dark', width: 390, height: 844 },
} as const))
  inChromium(`they hinder nobody ${name}`, async () => {
    const { page, open, hindrances } = await sandbox.open(options)
    const [{ id }] = await call('GET', '/operator/payoutBatches')
    for (const path of ['/payout-files', `/payout-files/${id}`, '/exports']) {
      await open(path)
      expect(await hindrances(), path).toEqual([])
      const { scrollWidth, clientWidth } = (await page.evaluate('document.documentElement')) as never
      expect(scrollWidth, `${path} is as wide as the screen`).toBe(clientWidth)
    }
  })
