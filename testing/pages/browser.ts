import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The Chromium of this machine; tests of pages need one, for example Debian's package chromium-headless-shell. */
export const chromiumPath = places.find(existsSync)

/** Waits as long as the test itself may: a busy machine makes a page slower, not a test red. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
  browser.on('context', (context) => context.setDefaultTimeout(0))
  return browser
}
