/** Screens of the console for operators, with their acts: the treasury. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { chromiumPath } from '#testing/pages/browser'
import { act, dialogClosed } from '#testing/pages/console-acts'
import { type ConsoleSandbox, openConsoleSandbox } from '#testing/pages/console-sandbox'

let sandbox: ConsoleSandbox
beforeAll(async () => {
  if (!chromiumPath) return
  sandbox = await openConsoleSandbox('BASE-SEPOLIA')
})
afterAll(() => sandbox?.close())
afterEach(async () => expect((await sandbox?.closePages()) ?? []).toEqual([]))

const inChromium = it.runIf(chromiumPath)
const call = async (method: string, path: string, body?: object) => {
  const { status, body: answer, text } = await sandbox.program.tenant.http(method, path, { body })
  expect(status, text).toBeLessThan(300)
  return answer.data
}

inChromium(
  'property 203: the treasury shows its coins and gas, and its policy is changed and forbidden',
  async () => {
    const shown = await sandbox.open()
    const { page, open, shows } = shown
    await call('POST', '/sandbox/triggers', { event: 'payout.complete' })
    const { treasuries } = await call('GET', '/operator/treasury')
    await open('/treasury')
    await shows('gas: plenty')
    await shows(treasuries[0].address.slice(2, 10))
    await shows('Nothing waits for coins or gas.')
    await act(shown, 'Change the limits', { 'At most': '1,5', Reserve: '2' })
    await page.waitForSelector('dialog .wrong:has-text("max must be a decimal number")')
    await page.keyboard.press('Escape')
    await dialogClosed(shown)
    await act(shown, 'Change the limits', { 'At most': '25.5', Reserve: '2' })
    await shows('25.5')
    expect(await call('GET', '/operator/rebalancingPolicy')).toEqual({
      allowed: true,
      max: '25.5',
      reserve: '2',
    })
    await act(shown, 'Forbid moving coins')
    await shows('forbidden')
    expect(await call('GET', '/operator/rebalancingPolicy')).toEqual({ allowed: false })
    await act(shown, 'Allow moving coins', { 'At most': '100' })
    await shows('allowed')
  },
)

for (const [name, options] of Object.entries({
  'in light': {},
  'in dark, on a phone': { colorScheme: 'dark', width: 390, height: 844 },
} as const))
  inChromium(`they hinder nobody ${name}`, async () => {
    const { page, open, hindrances } = await sandbox.open(options)
    for (const path of ['/treasury']) {
      await open(path)
      expect(await hindrances(), path).toEqual([])
      const { scrollWidth, clientWidth } = (await page.evaluate('document.documentElement')) as never
      expect(scrollWidth, `${path} is as wide as the screen`).toBe(clientWidth)
    }
  })
