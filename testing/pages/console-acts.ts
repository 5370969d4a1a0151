import { until } from '#testing/platform/until'
import type { ConsolePage } from './console-page.ts'

/** Clicks the button of an act, fills the fields of its dialog by their titles, and submits it. A choice is named by its text. */
export async function act(
  { page }: Pick<ConsolePage, 'page'>,
  title: string,
  values: Record<string, string> = {},
): Promise<void> {
  const named = { hasText: new RegExp(`^\\s*${title}\\s*$`) }
  await page.locator('main button').filter(named).first().click()
  await page.waitForSelector('dialog[open]')
  for (const [name, value] of Object.entries(values)) {
    const label = page.locator(`dialog label:has(span:text-matches("^${name}\\s*(optional)?$"))`)
    const field = label.locator('input, textarea, select:not([disabled])')
    await field.waitFor()
    if ((await field.evaluate((element) => element.tagName)) !== 'SELECT') await field.fill(value)
    else {
      const option = field.locator('option').filter({ hasText: value }).first()
      await field.selectOption((await option.getAttribute('value'))!)
    }
  }
  await page.click('dialog[open] button[type=submit]')
}

/** The name of what has the focus: its label, or else its text. */
const focusedName = `(() => {
  const each = document.activeElement
  const label = each.labels?.[0]?.querySelector('span')?.firstChild?.textContent
  return (label ?? each.getAttribute('aria-label') ?? each.textContent ?? '').trim()
})()`

/** Presses Tab until what has this name has the focus, as a reader without a pointer does. */
async function tabTo({ page }: Pick<ConsolePage, 'page'>, name: string): Promise<void> {
  for (let presses = 0; presses < 150; presses++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate<string>(focusedName)) === name) return
  }
  throw new Error(`Tab never leads to ${name}`)
}

/** Does the same as `act` by keys alone. */
export async function actByKeys(
  shown: Pick<ConsolePage, 'page'>,
  title: string,
  values: Record<string, string> = {},
): Promise<void> {
  const { page } = shown
  await tabTo(shown, title)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog[open]')
  await page.waitForSelector('dialog[open] select[disabled]', { state: 'detached' })
  for (const [name, value] of Object.entries(values)) {
    await tabTo(shown, name)
    await page.keyboard.type(value)
  }
  await tabTo(shown, title)
  await page.keyboard.press('Enter')
}

/** Waits until no dialog is open. */
export const dialogClosed = ({ page }: Pick<ConsolePage, 'page'>) =>
  until(async () => (await page.locator('dialog').count()) === 0, 'the dialog is closed')

/** Makes a wallet set and a wallet in it, opens the page of the wallet, and pays 1,000 USDC and a native coin to it. */
export async function makeFundedWallet(shown: ConsolePage, name: string): Promise<void> {
  const { page, shows } = shown
  await page.click('nav >> text=Wallet sets')
  await act(shown, 'Create a wallet set', { Name: `${name} set` })
  await shows('The wallet set is created.')
  await page.click('nav a:text-is("Wallets")')
  await act(shown, 'Create wallets', { Name: name })
  await shows('The wallet is created.')
  await page.click(`a[data-row]:has-text("${name}")`)
  await act(shown, 'Fund')
  await shows('1,000')
  await act(shown, 'Fund', { Token: 'NATIVE', Amount: '1' })
  await dialogClosed(shown)
}
