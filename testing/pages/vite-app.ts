import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { root } from '#testing/runner/root'
import { type AppPage, type AppSite, appPageOf, serveSite } from './app-site.ts'

const run = promisify(execFile)
const html =
  '<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1><script type="module" src="/main.js"></script>'

/** Variables and functions that the documented lines take from their app. The test puts `given` and `askServer` into the page. */
const around = `
  const { appId, userToken, encryptionKey, challengeUrl, challengeId } = globalThis.given
  globalThis.calls = []
  const show = (code, message) => calls.push([{ code, message }])
  const refresh = (result) => calls.push([null, result])
`

export type Given = Record<'appId' | 'userToken' | 'encryptionKey' | 'challengeUrl' | 'challengeId', string>

/** The first block of JavaScript in a document that contains a text. */
function blockOf(document: string, text: string): string {
  const blocks = [...readFileSync(join(root, document), 'utf8').matchAll(/```js\n([\s\S]+?)```/g)]
  const found = blocks.find(([, block]) => block!.includes(text))?.[1]
  if (found === undefined) throw new Error(`${document} shows no block with ${text}`)
  return found
}

/**
 * Builds the page that docs/user-wallets.md shows, with the installed Vite of a folder and the configuration that a document
 * shows; without a document, with none. Serves the built files.
 */
export async function buildApp(folder: string, name: string, configuredBy?: string): Promise<AppSite> {
  const app = join(folder, name)
  mkdirSync(app)
  writeFileSync(join(app, 'index.html'), html)
  const page = blockOf('docs/user-wallets.md', '@circle-fin/w3s-pw-web-sdk')
  writeFileSync(join(app, 'main.js'), around + page)
  if (configuredBy) writeFileSync(join(app, 'vite.config.mjs'), blockOf(configuredBy, '// vite.config.js'))
  // Vite takes NODE_ENV of a test for a build that is none for production.
  const { NODE_ENV: _, ...env } = process.env
  await run('npx', ['vite', 'build', name], { cwd: folder, env })
  return serveSite((path) => readFile(join(app, 'dist', path === '/' ? 'index.html' : path), 'utf8'))
}

/** Opens the built page for a challenge; `restorePin` is the app's server, which makes the challenge for a forgotten PIN. */
export async function openBuilt(
  page: Page,
  { origin }: AppSite,
  { given, restorePin }: { given: Given; restorePin: () => Promise<string> },
): Promise<AppPage> {
  await page.addInitScript(`globalThis.given = ${JSON.stringify(given)}`)
  await page.exposeFunction('askServer', (path: string) => {
    if (path !== '/pin/restore') throw new Error(`the app's server does not know ${path}`)
    return restorePin()
  })
  await page.goto(`${origin}/`)
  return appPageOf(page)
}
