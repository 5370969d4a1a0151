import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { FrameLocator, Page } from 'playwright-core'
import { succeedOnce } from '#runtime/scheduling/memoize'

/** The client reads tokens of providers with a library for servers; this is the part that it uses. */
const readsTokens: Plugin = {
  name: 'reads-tokens',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^jsonwebtoken$/ }, ({ path }) => ({ path, namespace: 'reads-tokens' }))
    onLoad({ filter: /.*/, namespace: 'reads-tokens' }, () => ({
      contents: `export const decode = (token) => {
        try {
          return JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')))
        } catch {
          return null
        }
      }`,
    }))
  },
}

const program = `
  import { W3SSdk } from '@circle-fin/w3s-pw-web-sdk'
  Object.assign(globalThis, { W3SSdk, told: [] })
  addEventListener('message', ({ data, origin }) => told.push({ ...data, from: origin }))`

/** The client in the page of the app: the published one, or `client/web` in its place. */
export type WebClient = 'published' | 'own'

const own = {
  alias: { '@circle-fin/w3s-pw-web-sdk': join(import.meta.dirname, '../../client/web/src/index.ts') },
  define: { 'process.env.NEXT_PUBLIC_BEZANT_CHALLENGE_URL': '"https://built-in.example"' },
}

const bundle = async (client: WebClient) => {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    logLevel: 'error',
    plugins: [readsTokens],
    ...(client === 'own' && own),
  })
  return outputFiles[0]!.text
}
const bundles = {
  published: succeedOnce(() => bundle('published')),
  own: succeedOnce(() => bundle('own')),
}

/** A site of an app, with a browser client in its page. */
export type AppSite = { origin: string; port: number; close(): Promise<void> }

export async function openAppSite(client: WebClient = 'published'): Promise<AppSite> {
  const script = await bundles[client]()
  return serveSite(async (path) => (path.endsWith('.js') ? script : html))
}

/** Serves what `read` returns for each path: as a script where its name says so, and as a page otherwise. */
export async function serveSite(read: (path: string) => Promise<string>): Promise<AppSite> {
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url!, 'http://localhost')
    const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'
    read(pathname).then(
      (text) => response.writeHead(200, { 'content-type': type }).end(text),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { origin: `http://localhost:${port}`, port, close }
}

const html =
  '<!doctype html><html lang="en"><title>Shop</title><style>body{margin:0;font:16px system-ui}</style><h1>Shop</h1><script src="/page.js"></script>'

/** What the app's page was told, oldest first. */
// biome-ignore lint/suspicious/noExplicitAny: messages have many shapes
export type Told = Record<string, any>

/** The client of the app's page, and the frame that it opens. */
export type AppPage = {
  page: Page
  frame: FrameLocator
  /** Runs a script with the client as `sdk`; it must not wait for the user. */
  run(script: string, input?: unknown): Promise<void>
  /** Resolves with the first message that has the member, once it is there. */
  told(member: string, count?: number): Promise<Told>
  /** The results of the client's callbacks, as `[error, result]`. */
  called(count?: number): Promise<[Told | undefined, Told | undefined][]>
}

/** Opens the app's page, and makes its client use the page of users at `challengeUrl`. */
export async function openClient(page: Page, origin: string, challengeUrl: string): Promise<AppPage> {
  await page.goto(`${origin}/`)
  await page.evaluate(`
    globalThis.calls = []
    globalThis.note = (error, result) => void calls.push([error, result])
    globalThis.sdk = new W3SSdk({ appSettings: { appId: 'app' } }, note)
    sdk.serviceUrl = ${JSON.stringify(challengeUrl)}`)
  return appPageOf(page)
}

/** The client of an app's page that keeps its messages in `told` and the results of its callbacks in `calls`. */
export function appPageOf(page: Page): AppPage {
  const pollMs = { polling: 50 }
  return {
    page,
    frame: page.frameLocator('#sdkIframe'),
    run: async (script, input) => {
      await page.evaluate(`(({ input }) => { ${script} })(${JSON.stringify({ input })})`)
    },
    told: async (member, count = 1) => {
      const found = `told.filter((message) => ${JSON.stringify(member)} in message)`
      await page.waitForFunction(`${found}.length >= ${count}`, undefined, pollMs)
      return page.evaluate(`${found}[${count - 1}]`)
    },
    called: async (count = 1) => {
      await page.waitForFunction(`calls.length >= ${count}`, undefined, pollMs)
      return page.evaluate('calls')
    },
  }
}
