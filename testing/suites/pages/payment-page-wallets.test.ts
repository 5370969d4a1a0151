/** Payments with a wallet of the browser, whose account has coins of a real local chain. */
import type { Page } from 'playwright-core'
import { createWalletClient, type Hex, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hindrances } from '#testing/pages/accessibility'
import { chromiumPath } from '#testing/pages/browser'
import { openPaymentPages, reads, stageIs } from '#testing/pages/payment-pages'
import { until } from '#testing/platform/until'

type Opened = Awaited<ReturnType<typeof openPaymentPages>>

let opened: Opened
beforeAll(async () => {
  if (chromiumPath) opened = await openPaymentPages()
})
afterAll(() => opened?.close())
afterEach(() => opened?.closePage())

const inChromium = it.runIf(chromiumPath)
const unit = 1_000_000n
const chains = { base: 'BASE-SEPOLIA', amoy: 'MATIC-AMOY' } as const

type Asked = { method: string; params: readonly unknown[] }
type Refusal = { code: number; message?: string }

/** An account with 20 USDC on both chains, and the wallet in which it is: `answers` stand for those of its person. */
async function openWallet(answers: Partial<Record<string, Refusal | { value: unknown }>> = {}) {
  const { harness } = opened
  const account = privateKeyToAccount(generatePrivateKey())
  for (const blockchain of Object.values(chains)) {
    const { oracle, tokens } = harness.chain(blockchain)
    const body = { address: account.address, blockchain, native: true, usdc: true }
    expect((await harness.http('POST', '/v1/faucet/drips', { body })).status).toBe(204)
    const has = async () => (await oracle.balanceOf(account.address, tokens.USDC)) > 0n
    await until(has, `the account has coins on ${blockchain}`)
  }
  const byId = new Map(
    Object.values(chains).map((name) => [harness.chain(name).chainId, harness.chain(name)]),
  )
  const asked: Asked[] = []
  let chainId = harness.chain(chains.amoy).chainId

  async function answer({ method, params }: Asked): Promise<unknown> {
    asked.push({ method, params })
    const given = answers[method]
    if (given && 'code' in given) throw given
    if (given) return given.value
    if (method === 'eth_requestAccounts') return [account.address]
    if (method === 'eth_chainId') return `0x${chainId.toString(16)}`
    if (method === 'wallet_switchEthereumChain') {
      chainId = Number((params as [{ chainId: string }])[0].chainId)
      return null
    }
    const [{ to, data, from, chainId: named }] = params as [{ to: Hex; data: Hex; from: Hex; chainId: Hex }]
    expect([method, from, Number(named)]).toEqual(['eth_sendTransaction', account.address, chainId])
    const client = createWalletClient({ account, transport: http(byId.get(chainId)!.rpcUrl) })
    return client.sendTransaction({ to, data, chain: null })
  }
  const sent = () => asked.filter(({ method }) => method === 'eth_sendTransaction').length
  return { address: account.address.toLowerCase(), answer, answers, asked, sent }
}
type TestWallet = Awaited<ReturnType<typeof openWallet>>

const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"/>'

/** Announces the wallet to pages as EIP-6963 says, or leaves it where older ones are. */
const install =
  (wallet: TestWallet, info: object | 'older' = { name: 'Test Wallet', icon }) =>
  async (page: Page) => {
    await page.exposeFunction('askWallet', (request: Asked) =>
      wallet.answer(request).then(
        (value) => ({ value }),
        ({ code, message }: Refusal) => ({ error: { code, message } }),
      ),
    )
    await page.addInitScript(`{
      const provider = {
        request: async ({ method, params = [] }) => {
          const { value, error } = await askWallet({ method, params })
          if (error) throw Object.assign(new Error(error.message), error)
          return value
        },
      }
      const info = ${JSON.stringify(info)}
      const detail = Object.freeze({ info: { uuid: '350670db-19fa-4704-a166-e52e178b59d2', ...info }, provider })
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
      if (info === 'older') globalThis.ethereum = provider
      else addEventListener('eip6963:requestProvider', announce)
    }`)
  }

const button = (page: Page, name = 'Pay with Test Wallet') => page.getByRole('button', { name, exact: true })
const arrivedAt = async (address: string, blockchain: string) => {
  const transfers = await opened.harness.chain(blockchain).oracle.transfers({ to: address as Hex })
  return transfers.map(({ amountAtomic }) => amountAtomic)
}

describe('property 272: a wallet of the browser', () => {
  inChromium('changes to the chosen chain and pays what is missing, once', async () => {
    const { harness, openIntent, visit } = opened
    const { url, address } = await openIntent('10.00')
    const wallet = await openWallet()
    const { page, outside, broken } = await visit(url, {}, install(wallet))
    await harness.chain(chains.base).send(address, 4n * unit, 'USDC')
    await stageIs(page, 'underpaid')
    // Nothing is asked before a press.
    expect(wallet.asked).toEqual([])
    expect(await button(page).locator('img').getAttribute('src')).toBe(icon)
    await button(page).dblclick()
    await stageIs(page, 'paid')
    expect(wallet.sent()).toBe(1)
    expect(wallet.asked.map(({ method }) => method)).toEqual([
      'eth_requestAccounts',
      'eth_chainId',
      'wallet_switchEthereumChain',
      'eth_chainId',
      'eth_sendTransaction',
    ])
    expect(await arrivedAt(address, chains.base)).toEqual([4n * unit, 6n * unit])
    expect(await arrivedAt(address, chains.amoy)).toEqual([])
    expect(await button(page).count()).toBe(0)
    expect([outside, broken]).toEqual([[], []])
  })

  inChromium(
    'shows its transaction until the network has it, also when the page is loaded again',
    async () => {
      const { openIntent, visit } = opened
      const { url, address } = await openIntent('3.00', { chains: [] })
      const hash = `0x${'ab'.repeat(32)}`
      const wallet = await openWallet({ eth_sendTransaction: { value: hash } })
      const { page } = await visit(url, {}, install(wallet))
      await button(page).click()
      await reads(page, 'Your wallet sent the payment.')
      await page.locator(`.hash [title="${hash}"]`).waitFor()
      expect(await button(page).count()).toBe(0)
      await page.reload()
      await page.locator(`.hash [title="${hash}"]`).waitFor()
      expect(await button(page).count()).toBe(0)
      expect((await page.locator('#page').textContent())?.includes('Pay again')).toBe(false)
      // It never came: after two minutes the customer may decide to pay again.
      await page.evaluate(`(() => {
      const key = Object.keys(sessionStorage)[0]
      sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(sessionStorage.getItem(key)), atMs: 0 }))
    })()`)
      await page.reload()
      await reads(page, 'Look in your wallet what became of it')
      await page.getByRole('button', { name: 'Pay again' }).click()
      delete wallet.answers['eth_sendTransaction']
      await button(page).click()
      await stageIs(page, 'paid')
      expect(await arrivedAt(address, chains.base)).toEqual([3n * unit])
    },
  )

  inChromium(
    'is told to have paid where the browser stores nothing, and not to pay what is paid',
    async () => {
      const { harness, openIntent, visit } = opened
      const { url, address } = await openIntent('3.00', { chains: [] })
      const hash = `0x${'cd'.repeat(32)}`
      const wallet = await openWallet({ eth_sendTransaction: { value: hash } })
      const { page, broken } = await visit(url, {}, async (each) => {
        await install(wallet)(each)
        await each.clock.install()
        await each.addInitScript(
          `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`,
        )
      })
      await button(page).click()
      await page.locator(`.hash [title="${hash}"]`).waitFor()
      await page.locator('#spoken', { hasText: 'Your wallet sent the payment.' }).waitFor()
      await page.clock.fastForward(180_000)
      const again = page.getByRole('button', { name: 'Pay again' })
      await again.waitFor()
      await harness.chain(chains.base).send(address, 3n * unit, 'USDC')
      await stageIs(page, 'paid')
      expect([await again.count(), await button(page).count(), wallet.sent(), broken]).toEqual([0, 0, 1, []])
    },
  )

  const refusals = [
    ['eth_requestAccounts', { code: 4001 }, 'You declined in Test Wallet. Nothing was sent.'],
    ['eth_requestAccounts', { code: -32002 }, 'Test Wallet already shows a request'],
    ['eth_requestAccounts', { value: [] }, 'Test Wallet showed no account. Nothing was sent.'],
    ['wallet_switchEthereumChain', { code: 4902 }, 'Test Wallet does not know Base-Sepolia'],
    ['wallet_switchEthereumChain', { code: 4001 }, 'You declined in Test Wallet. Nothing was sent.'],
    [
      'wallet_switchEthereumChain',
      { value: null },
      'is on another network than Base-Sepolia and did not change',
    ],
    [
      'wallet_switchEthereumChain',
      { code: -32601 },
      'is on another network than Base-Sepolia and did not change',
    ],
    ['eth_chainId', { value: 'base' }, 'is on another network than Base-Sepolia and did not change'],
    ['eth_sendTransaction', { code: 4001 }, 'You declined in Test Wallet. Nothing was sent.'],
    ['eth_sendTransaction', { code: -32000 }, 'did not say whether it sent the payment. Look there'],
    ['eth_sendTransaction', { value: '<img src=x>' }, 'did not say whether it sent the payment. Look there'],
  ] as const

  inChromium('that refuses, or cannot change to the chain, sends nothing, and the page says so', async () => {
    const { openIntent, visit } = opened
    const { url, address } = await openIntent('1.00', { chains: [] })
    const wallet = await openWallet()
    const { page, broken } = await visit(url, {}, install(wallet))
    for (const [method, given, text] of refusals) {
      for (const name of Object.keys(wallet.answers)) delete wallet.answers[name]
      wallet.answers[method] = given as Refusal
      await page.reload()
      await button(page).click()
      await page.locator('.step.bad', { hasText: text }).waitFor()
      await page.locator('#spoken', { hasText: text }).waitFor()
      expect(await button(page).getAttribute('aria-disabled')).toBe(null)
    }
    expect([wallet.sent(), await arrivedAt(address, chains.base), broken]).toEqual([3, [], []])
  })

  inChromium('is not asked to pay when the payment was made meanwhile', async () => {
    const { harness, openIntent, visit } = opened
    const { url, address } = await openIntent('2.00', { chains: [] })
    const wallet = await openWallet()
    const { answer } = wallet
    wallet.answer = async (request) => {
      if (request.method === 'eth_requestAccounts') {
        await harness.chain(chains.base).send(address, 2n * unit, 'USDC')
        const token = url.split('/').at(-1)
        const isSeen = async () =>
          (await harness.http('GET', `/page/payments/${token}`)).body.data.stage !== 'waiting'
        await until(isSeen, 'the page has seen the payment')
      }
      return answer(request)
    }
    const { page } = await visit(url, {}, install(wallet))
    await button(page).click()
    await stageIs(page, 'paid')
    await page.locator('#spoken', { hasText: 'Nothing was sent' }).waitFor()
    expect([wallet.sent(), await arrivedAt(address, chains.base)]).toEqual([0, [2n * unit]])
  })

  inChromium('of the older kind pays too, and one with a hostile name is a text', async () => {
    const { openIntent, visit } = opened
    const { url, address } = await openIntent('1.00', { chains: [] })
    const older = await visit(url, {}, install(await openWallet(), 'older'))
    await button(older.page, 'Pay with Browser Wallet').click()
    await stageIs(older.page, 'paid')
    expect(await arrivedAt(address, chains.base)).toEqual([unit])
    const next = await openIntent('1.00')
    const hostile = {
      name: `<img src=x onerror=alert(1)>\u202e${'x'.repeat(500)}`,
      icon: 'https://evil.example/i.png',
    }
    const { page, outside, broken } = await visit(next.url, {}, install(await openWallet(), hostile))
    const text = await page.locator('[data-pay]').textContent()
    expect(text).toMatch(/^Pay with <img src=x onerror=alert\(1\)>\[U\+202E\]x+$/)
    expect([await page.locator('[data-pay] img').count(), outside, broken]).toEqual([0, [], []])
    // Without an amount there is nothing that the wallet could be asked for.
    const any = await visit((await openIntent(undefined)).url, {}, install(await openWallet()))
    await any.page.locator('.live').waitFor()
    await any.page.waitForTimeout(1_000)
    expect(await any.page.locator('[data-pay]').count()).toBe(0)
  })
})

describe('the languages of a payment page', () => {
  inChromium('are chosen by the link, else by the browser, and are kept by every choice', async () => {
    const { openIntent, visit, pages } = opened
    const { url, address } = await openIntent('25.50')
    const german = await visit(url, { locale: 'de-CH' })
    await reads(german.page, 'Wartet auf Ihre Zahlung')
    await german.page.locator('.live').waitFor()
    expect(await german.page.locator('html').getAttribute('lang')).toBe('de')
    expect(await german.page.title()).toBe('25.50 USDC zahlen')
    await german.page.getByRole('link', { name: '日本語' }).click()
    await reads(german.page, 'お支払いを待っています')
    await german.page.getByRole('link', { name: 'Polygon-Amoy' }).click()
    expect(new URL(german.page.url()).search).toBe('?chain=POLY&lang=ja')
    await german.page.reload()
    await reads(german.page, 'Polygon-Amoy の USDC だけを送ってください。')
    await opened.harness.chain(chains.base).send(address, 25_500_000n, 'USDC')
    await stageIs(german.page, 'paid')
    await reads(german.page, '25.50 USDC が届きました')
    const plain = await visit(`${url}?lang=fr`, { locale: 'de-CH', javaScriptEnabled: false })
    await reads(plain.page, '25.50 USDC sont arrivés. Merci.')
    const header = (language: string) =>
      fetch(url, { headers: { 'accept-language': language } }).then(({ headers }) => headers)
    expect((await header('pt-BR,en;q=0.5')).get('content-language')).toBe('pt')
    expect((await header('nl')).get('content-language')).toBe('en')
    expect((await header('nl')).get('vary')).toContain('Accept-Language')
    const unknown = await fetch(`${pages.url}/pay/AAAA?lang=es`)
    expect([unknown.status, await unknown.text()]).toEqual([
      404,
      expect.stringContaining('Este enlace no lleva a ningún pago'),
    ])
  })

  inChromium('have no hindrance and reflow, with wallets', async () => {
    const { openIntent, visit, harness } = opened
    const { url, address } = await openIntent('8.00', { description: 'Order 1042' })
    await harness.chain(chains.base).send(address, unit, 'USDC')
    const wallet = await openWallet({ eth_requestAccounts: { code: 4001 } })
    const { page } = await visit(url, {}, install(wallet))
    const found: string[] = []
    for (const lang of ['en', 'de', 'es', 'fr', 'pt', 'ja'])
      for (const [width, colorScheme] of [
        [320, 'light'],
        [1280, 'dark'],
      ] as const) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme })
        await page.goto(`${url}?lang=${lang}`)
        await page.locator('[data-pay]').click()
        await page.locator('.step.bad').waitFor()
        const here = await hindrances(page.mainFrame(), ['target-size'])
        found.push(...here.map((each) => `${lang} ${width}: ${each}`))
        if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
          found.push(`${lang} ${width}: wider than the window`)
      }
    expect(found).toEqual([])
  })
})
