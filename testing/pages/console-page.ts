import type { Browser, BrowserContext, Page } from 'playwright-core'
import { patienceMs, until } from '#testing/platform/until'
import { hindrances } from './accessibility.ts'

/** A page of the console, with everything that it did wrong so far. */
export type ConsolePage = {
  page: Page
  context: BrowserContext
  /** Errors of scripts, violations of the policy of the page, dialogs, and requests to other origins. */
  complaints: string[]
  /** Opens a path below `/console` and waits until nothing is loading. */
  open(path: string): Promise<void>
  /** Waits until an expression is true in the page, which its own policy would not let it evaluate by itself. */
  when(expression: string): Promise<void>
  /** Waits until the content has the text. */
  shows(text: string): Promise<void>
  hindrances(): Promise<string[]>
}

type Options = { width?: number; height?: number; colorScheme?: 'light' | 'dark' }

export async function openConsole(
  browser: Browser,
  url: string,
  { width = 1440, height = 900, colorScheme = 'light' }: Options = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(url) && !asked.startsWith('data:') && !asked.startsWith('blob:'))
      complaints.push(`asked ${asked}`)
  })
  await page.exposeFunction('tellViolation', (text: string) => void complaints.push(`policy: ${text}`))
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) => tellViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  const when = (expression: string) => until(async () => Boolean(await page.evaluate(expression)), expression)
  return {
    page,
    context,
    complaints,
    when,
    async open(path) {
      await page.goto(`${url}/console${path}`)
      await when(
        `document.querySelector('main h1, form h1') !== null && document.querySelector('main .skeleton') === null`,
      )
    },
    shows: (text) => when(`document.body.innerText.includes(${JSON.stringify(text)})`),
    hindrances: () => hindrances(page.mainFrame()),
  }
}
