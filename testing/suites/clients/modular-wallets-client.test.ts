import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { freshAddress } from '#testing/builders/world'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

/*
 * Modular wallets through the published client, in a page of a browser whose authenticator is virtual.
 */
let harness: Harness
let browser: Browser
let page: Page
let shop: Server

const program = `
  import { createPublicClient, defineChain } from 'viem'
  import { createBundlerClient, toWebAuthnAccount } from 'viem/account-abstraction'
  import * as modular from '@circle-fin/modular-wallets-core'
  Object.assign(globalThis, { modular, createPublicClient, defineChain, createBundlerClient, toWebAuthnAccount })`

beforeAll(async () => {
  if (!chromiumPath) return
  harness = await openHarness()
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
    sql`select rp_id, username, counter from passkeys where credential_id = ${Buffer.from(made.id, 'base64url')}`,
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

/** In the page: the account of a new passkey, kept for further calls. */
const openAccount = () =>
  page.evaluate(
    async ({ passkeys, url, key, chainId }) => {
      // biome-ignore lint/suspicious/noExplicitAny: the page has no types
      const { modular, ...viem } = globalThis as any
      const { createPublicClient, createBundlerClient, defineChain, toWebAuthnAccount } = viem
      const credential = await modular.toWebAuthnCredential({
        transport: modular.toPasskeyTransport(passkeys, key),
        mode: modular.WebAuthnMode.Register,
        username: 'bob',
      })
      const transport = modular.toModularTransport(url, key)
      const chain = defineChain({
        id: chainId,
        name: 'Base Sepolia',
        rpcUrls: { default: { http: [] } },
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      })
      const client = createPublicClient({ chain, transport })
      const owner = toWebAuthnAccount({ credential })
      const account = await modular.toCircleSmartAccount({ client, owner })
      const bundler = createBundlerClient({ account, chain, transport, paymaster: true })
      Object.assign(globalThis, { bundler })
      return account.address as string
    },
    {
      passkeys: `${harness.url}/v1/rpc/w3s/buidl`,
      url: `${harness.url}/v1/rpc/w3s/buidl/baseSepolia`,
      key: harness.clientKey,
      chainId: 84_532,
    },
  )

/** In the page: pays as the client's own guide does, and waits for the receipt. */
const payFromPage = (to: string, amounts: readonly number[]) =>
  page.evaluate(
    async ({ to, token, amounts }) => {
      // biome-ignore lint/suspicious/noExplicitAny: the page has no types
      const { modular, bundler } = globalThis as any
      const calls = amounts.map((amount) => modular.encodeTransfer(to, token, BigInt(amount)))
      const hash = await bundler.sendUserOperation({ calls })
      const { success, receipt } = await bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })
      return { hash: hash as string, success: success as boolean, txHash: receipt.transactionHash as string }
    },
    { to, token: harness.chain().tokens.USDC, amounts: [...amounts] },
  )

inChromium('a passkey account sends USDC from the page, and its operations are read back', async () => {
  const address = await openAccount()
  const { oracle, tokens } = harness.chain()
  await harness.fundWallet(address, { usdc: '10' })
  const to = freshAddress()
  const first = await payFromPage(to, [1_000_000])
  expect(first.success).toBe(true)
  const batch = await payFromPage(to, [2_000_000, 3_000_000])
  expect(batch.success).toBe(true)
  expect(await oracle.balanceOf(to, tokens.USDC)).toBe(6_000_000n)
  expect(await oracle.balanceOf(address, tokens.USDC)).toBe(4_000_000n)
  expect(await harness.chain().rpc('eth_getBalance', [address, 'latest'])).toBe('0x0')
  const read = async (path: string) => (await harness.http('GET', `/v1/w3s/buidl/${path}`)).body.data
  await until(async () => {
    const { userOperations } = await read(`userOps?senders=${address}&state=COMPLETE`)
    return userOperations.length === 2
  }, 'both operations are complete')
  const { userOperations } = await read(`userOps?senders=${address}`)
  expect(userOperations).toMatchObject([
    { userOpHash: batch.hash, txHash: batch.txHash },
    { userOpHash: first.hash, txHash: first.txHash },
  ])
  const { transfers } = await read(`transfers?walletAddresses=${address}&transferType=OUTBOUND_TRANSFER`)
  const sent = transfers.map(({ amount, userOpHash }: Record<string, string>) => [amount, userOpHash])
  expect(sent.toSorted()).toEqual([
    ['1', first.hash],
    ['2', batch.hash],
    ['3', batch.hash],
  ])
  expect((await read(`wallets/BASE-SEPOLIA/${address}/balances`)).tokenBalances).toMatchObject([
    { amount: '4' },
  ])
})

/** In the page: what an application does at each start, from a credential that it kept or one that the user logs in with. */
const startApplication = (mode: 'Register' | 'Login' | 'Restore') =>
  page.evaluate(
    async ({ passkeys, url, key, chainId, mode }) => {
      // biome-ignore lint/suspicious/noExplicitAny: the page has no types
      const { modular, localStorage, ...viem } = globalThis as any
      const { createPublicClient, createBundlerClient, defineChain, toWebAuthnAccount } = viem
      const transport = modular.toPasskeyTransport(passkeys, key)
      const known = () => JSON.parse(localStorage.getItem('credential'))
      const credentialBy = {
        Register: () =>
          modular.toWebAuthnCredential({ transport, mode: 'Register', username: `carol_${Date.now()}` }),
        Login: () => modular.toWebAuthnCredential({ transport, mode: 'Login', credentialId: known().id }),
        Restore: known,
      }
      const kept = await credentialBy[mode]()
      localStorage.setItem('credential', JSON.stringify(kept))
      const modularTransport = modular.toModularTransport(url, key)
      const chain = defineChain({
        id: chainId,
        name: 'Base Sepolia',
        rpcUrls: { default: { http: [] } },
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      })
      const client = createPublicClient({ chain, transport: modularTransport })
      const owner = toWebAuthnAccount({ credential: kept })
      const account = await modular.toCircleSmartAccount({ client, owner, name: 'Carol' })
      const bundler = createBundlerClient({ chain, transport: modularTransport })
      Object.assign(globalThis, { application: { account, bundler, client } })
      return account.address as string
    },
    {
      passkeys: `${harness.url}/v1/rpc/w3s/buidl`,
      url: `${harness.url}/v1/rpc/w3s/buidl/baseSepolia`,
      key: harness.clientKey,
      chainId: 84_532,
      mode,
    },
  )

inChromium(
  'property 150: an application keeps its passkey, signs in and pays after a reload and a login',
  async () => {
    const address = await startApplication('Register')
    await harness.fundWallet(address, { usdc: '10' })
    /** Signs in by a message that a server verifies, and pays at the prices that the endpoint recommends. */
    const signAndPay = (to: string) =>
      page.evaluate(
        async ({ to, token }) => {
          // biome-ignore lint/suspicious/noExplicitAny: the page has no types
          const { modular, application } = globalThis as any
          const { account, bundler, client } = application
          const message = 'Sign in to the shop\nNonce: 7'
          const signature = await account.signMessage({ message })
          const isValid = await client.verifyMessage({ address: account.address, message, signature })
          const { medium } = await modular.getUserOperationGasPrice(client)
          const hash = await bundler.sendUserOperation({
            account,
            calls: [modular.encodeTransfer(to, token, 2_000_000n)],
            paymaster: true,
            maxFeePerGas: BigInt(medium.maxFeePerGas),
            maxPriorityFeePerGas: BigInt(medium.maxPriorityFeePerGas),
          })
          const { receipt } = await bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })
          return { isValid: isValid as boolean, status: receipt.status as string }
        },
        { to, token: harness.chain().tokens.USDC },
      )
    const to = freshAddress()
    expect(await signAndPay(to)).toEqual({ isValid: true, status: 'success' })
    await page.reload()
    expect(await startApplication('Restore')).toBe(address)
    expect(await signAndPay(to)).toEqual({ isValid: true, status: 'success' })
    await page.reload()
    expect(await startApplication('Login')).toBe(address)
    expect(await signAndPay(to)).toEqual({ isValid: true, status: 'success' })
    expect(await harness.chain().oracle.balanceOf(to, harness.chain().tokens.USDC)).toBe(6_000_000n)
  },
)
