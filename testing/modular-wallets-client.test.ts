import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { chromiumPath, openBrowser } from './browser.ts'
import { type Harness, openHarness } from './harness.ts'

/*
 * Modular wallets through the published client, in a page of a browser whose authenticator is virtual.
 */
let harness: Harness
let browser: Browser
let page: Page
let shop: Server

const program = `
  import { createPublicClient } from 'viem'
  import * as modular from '@circle-fin/modular-wallets-core'
  Object.assign(globalThis, { modular, createPublicClient })`

beforeAll(async () => {
  if (!chromiumPath) return
  harness = await openHarness({ engines: false })
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    logLevel: 'error',
  })
  browser = await openBrowser()
  page = await browser.newPage()
  shop = createServer(({ url }, response) => {
    const isScript = url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? outputFiles[0]!.text : '<!doctype html><script src="/page.js"></script>')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  // By name: browsers have no passkeys for an address.
  await page.goto(`http://localhost:${(shop.address() as AddressInfo).port}/`)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
})
afterAll(async () => {
  await browser?.close()
  shop?.close()
  await harness?.close()
})

const inChromium = it.runIf(chromiumPath)

/** Registers or logs in as the client's own guide does; returns what an account is made of. */
const credentialBy = (mode: 'Register' | 'Login', fields: { username?: string; credentialId?: string }) =>
  page.evaluate(
    async ({ url, key, mode, fields }) => {
      // biome-ignore lint/suspicious/noExplicitAny: the page has no types
      const { modular } = globalThis as any
      const transport = modular.toPasskeyTransport(url, key)
      const made = await modular.toWebAuthnCredential({
        transport,
        mode: modular.WebAuthnMode[mode],
        ...fields,
      })
      return { id: made.id as string, publicKey: made.publicKey as string }
    },
    { url: `${harness.url}/v1/rpc/w3s/buidl`, key: harness.clientKey, mode, fields },
  )

inChromium('registers a passkey and logs in with it, chosen by the user and by its id', async () => {
  const made = await credentialBy('Register', { username: 'alice' })
  expect(made.publicKey).toMatch(/^0x[0-9a-f]{128}$/)
  expect(await credentialBy('Login', {})).toEqual(made)
  expect(await credentialBy('Login', { credentialId: made.id })).toEqual(made)
  const row = await harness.database.one<{ rpId: string; username: string; counter: number }>(
    sql`select rp_id as "rpId", username, counter from passkeys where credential_id = ${Buffer.from(made.id, 'base64url')}`,
  )
  expect(row).toMatchObject({ rpId: 'localhost', username: 'alice' })
  expect(row.counter).toBeGreaterThan(0)
})

inChromium('reads a chain from the page', async () => {
  const chain = harness.chain()
  const answers = await page.evaluate(
    async ({ url, key, address }) => {
      // biome-ignore lint/suspicious/noExplicitAny: the page has no types
      const { modular, createPublicClient } = globalThis as any
      const client = createPublicClient({ transport: modular.toModularTransport(url, key) })
      const [chainId, balance, code] = await Promise.all([
        client.getChainId(),
        client.getBalance({ address }),
        client.getCode({ address }),
      ])
      return { chainId, balance: String(balance), code: code ?? '0x' }
    },
    {
      url: `${harness.url}/v1/rpc/w3s/buidl/baseSepolia`,
      key: harness.clientKey,
      address: chain.tokens.USDC,
    },
  )
  expect(answers).toEqual({
    chainId: chain.chainId,
    balance: '0',
    code: expect.stringMatching(/^0x[0-9a-f]{100,}$/),
  })
})
