/** Policies and freezes in the console: rules are tried before they are set, they decide afterwards, and a freeze ends again. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { chromiumPath } from '#testing/pages/browser'
import { act, dialogClosed } from '#testing/pages/console-acts'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'

let sandbox: ConsoleSandbox
let wallet: { id: string; address: string }

const http = (method: string, path: string, body?: object) =>
  sandbox.program.tenant.http(method, path, { body })

beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox('BASE-SEPOLIA')
  const { body, text } = await http('POST', '/sandbox/triggers', { event: 'transaction.complete' })
  const made = body.data?.made.find(({ kind }: { kind: string }) => kind === 'wallet')
  expect(made, text).toBeDefined()
  wallet = (await http('GET', `/v1/w3s/wallets/${made.id}`)).body.data.wallet
})
afterAll(() => sandbox?.close())
afterEach(async () => expect((await sandbox?.closePages()) ?? []).toEqual([]))

const inChromium = it.runIf(chromiumPath)

inChromium('tries a policy before it is set, and freezes and unfreezes a wallet', async () => {
  const shown = await sandbox.open()
  const { page, open, shows } = shown
  const { id, address } = wallet
  await open(`/wallets/${id}`)
  await page.click('main button:has-text("Set policy")')
  const rules = page.locator('dialog textarea')
  await rules.fill('{"mode": "rules", "operations": ["transfers"]}')
  await page.click('dialog button:has-text("Dry run")')
  await shows('rules.operations[0] must be one of')
  expect(await rules.inputValue()).toContain('transfers')
  await rules.fill('{"mode": "rules", "operations": ["signMessage"]}')
  await page.click('dialog button:has-text("Dry run")')
  await shows('No policy of its own is in force.')
  await page.click('dialog button[type=submit]')
  await shows('Policy of the wallet, version 1')
  const sent = await http('POST', '/v1/w3s/developer/transactions/transfer', {
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await sandbox.program.tenant.sealSecret(),
    walletId: id,
    destinationAddress: address,
    amounts: ['0.001'],
    feeLevel: 'MEDIUM',
  })
  expect([sent.status, sent.body.code], sent.text).toEqual([403, 155900])
  await act(shown, 'Set policy', { Rules: '{"mode": "permissive"}' })
  await shows('Policy of the wallet, version 2')
  await open(`/wallets/${id}`)
  await act(shown, 'Freeze')
  await shows('FROZEN')
  await open('/freezes')
  await shows(id.slice(0, 8))
  await open('/')
  await shows('its accepted transactions wait')
  await open(`/wallets/${id}`)
  await act(shown, 'Unfreeze')
  await shows('LIVE')
})

for (const [name, options] of Object.entries({
  'in light': {},
  'in dark, on a phone': { colorScheme: 'dark', width: 390, height: 844 },
} as const))
  inChromium(`hinders nobody ${name}`, async () => {
    const shown = await sandbox.open(options)
    const { page, open, shows, hindrances } = shown
    const fits = async (path: string) => {
      expect(await hindrances(), path).toEqual([])
      const { scrollWidth, clientWidth } = (await page.evaluate('document.documentElement')) as never
      expect(scrollWidth, `${path} is as wide as the screen`).toBe(clientWidth)
    }
    for (const body of [{}, { subjectId: wallet.id }]) await http('POST', '/operator/freezes', body)
    const [policy] = (await http('GET', '/operator/policies')).body.data
    for (const path of ['/policy', `/policy/${policy.id}`, '/freezes']) {
      await open(path)
      await shows('The entity is frozen')
      await fits(path)
    }
    await open(`/wallets/${wallet.id}`)
    await page.click('main button:has-text("Set policy")')
    await page.locator('dialog textarea').fill('{"mode": "rules"}')
    await page.click('dialog button:has-text("Dry run")')
    await page.waitForSelector('dialog pre')
    await fits('the dry run')
    await page.keyboard.press('Escape')
    await dialogClosed(shown)
  })
