/** Texts of strangers in every field that takes them: the console shows them as texts, on every screen. */
import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deployCollection } from '#testing/builders/any-tokens'
import { makeMember } from '#testing/builders/members'
import { tokenActions } from '#testing/builders/token-actions'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { builtConsole } from '#testing/pages/built-console'
import { type ConsolePage, openConsole } from '#testing/pages/console-page'
import { hostileTexts } from '#testing/pages/hostile-texts'
import { typeSignIn } from '#testing/pages/sign-in'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let world: World
let browser: Browser
let shown: ConsolePage

beforeAll(async () => {
  if (!chromiumPath) return
  await builtConsole()
  ;[harness, browser] = await Promise.all([openHarness({ config: { requestLog: 'bodies' } }), openBrowser()])
  world = worldOf(harness)
  shown = await openConsole(browser, harness.url)
  await shown.open('/')
  await typeSignIn(shown, await makeMember(world))
  await shown.shows('Overview')
})
afterAll(async () => {
  await browser?.close()
  await harness?.close()
})

/** The bodies of requests that take a text, by path: what the API refuses is in no field. */
const fields: Record<string, (text: string) => Promise<{ body: object; headers?: Record<string, string> }>> =
  {
    '/v1/w3s/developer/walletSets': async (name) => ({ body: { ...(await signed()), name } }),
    '/v1/w3s/developer/wallets': async (name) => ({
      body: {
        ...(await signed()),
        walletSetId: (await world.walletSet()).id,
        blockchains: ['BASE-SEPOLIA'],
        metadata: [{ name, refId: name }],
      },
    }),
    '/v1/w3s/developer/transactions/transfer': async (refId) => ({
      body: {
        ...(await signed()),
        walletId: (await world.fundedWallet()).id,
        tokenId: world.usdcId,
        destinationAddress: freshAddress(),
        amounts: ['0.01'],
        feeLevel: 'MEDIUM',
        refId,
      },
    }),
    '/v1/w3s/users': async (userId) => ({ body: { userId } }),
    '/v1/addressBook/recipients': async (nickname) => ({
      body: {
        idempotencyKey: randomUUID(),
        chain: 'BASE',
        address: freshAddress(),
        metadata: { nickname, email: 'ada@example.com', bns: nickname },
      },
    }),
    // Refused, and kept in the log of requests with the text in its place.
    '/v1/paymentIntents': async (text) => ({ body: { [text]: text, amount: text } }),
  }

const signed = async () => ({
  idempotencyKey: randomUUID(),
  entitySecretCiphertext: await world.tenant.sealSecret(),
})

/** Headers take no other characters. */
const headerOf = (text: string) => text.replaceAll(/[^ -~]/g, '').slice(0, 500)

it.runIf(chromiumPath)('shows the texts of strangers as texts, on every screen', async () => {
  expect(hostileTexts.length).toBeGreaterThanOrEqual(60)
  const taken: Record<string, number> = {}
  const pages: string[] = []
  for (const [path, make] of Object.entries(fields))
    for (const [index, text] of hostileTexts.entries()) {
      const { body } = await make(text)
      const answer = await harness.http('POST', path, { body, headers: { 'user-agent': headerOf(text) } })
      expect([path, text, answer.status < 500]).toEqual([path, text, true])
      if (answer.status >= 400) continue
      taken[path] = (taken[path] ?? 0) + 1
      const page = pageOf(path, answer.body.data)
      if (page && index < 8) pages.push(page)
    }
  // Most texts are allowed in most fields: only what is in a field can do harm.
  expect(Object.values(taken).filter((count) => count > 40).length).toBeGreaterThanOrEqual(4)
  await mintPicture('<img src=x onerror=globalThis.broken=1>')

  const { page, open, complaints } = shown
  const lists = await page.locator('nav.side a').evaluateAll((links) => links.map((link) => link.pathname))
  const [request] = await world.call('GET', '/operator/requests?pageSize=1')
  for (const path of [
    ...lists.map((path) => path.replace(/^\/console/, '') || '/'),
    ...pages,
    `/wallets/${(await world.fundedWallet()).id}`,
    `/requests/${request.id}`,
  ]) {
    await open(path)
    expect([path, await page.evaluate('globalThis.broken')]).toEqual([path, undefined])
    const made = await page
      .locator('main :is(img, iframe, script, style, object, base, form[action])')
      .count()
    expect([path, made]).toEqual([path, 0])
    const links = await page
      .locator('main a[href]')
      .evaluateAll((all) => all.map((link) => new URL(link.href).protocol))
    expect([path, links.filter((protocol) => !/^https?:$/.test(protocol))]).toEqual([path, []])
  }
  await open('/wallet-sets')
  const text = await page.locator('main').textContent()
  for (const name of hostileTexts.filter((each) => /^[<"'][\x21-\x7e ]{4,60}$/.test(each)).slice(-20))
    expect(text).toContain(name)
  expect(complaints).toEqual([])
})

// biome-ignore lint/suspicious/noExplicitAny: every answer has its own shape
function pageOf(path: string, data: any): string | undefined {
  if (path.endsWith('/walletSets')) return `/wallet-sets/${data.walletSet.id}`
  if (path.endsWith('/wallets')) return `/wallets/${data.wallets[0].id}`
  if (path.endsWith('/transfer')) return `/movements/${data.id}`
  if (path.endsWith('/recipients')) return `/address-book/${data.id}`
  return undefined
}

/** Gives a picture of a collection with this name to the funded wallet. */
async function mintPicture(name: string): Promise<void> {
  const { address } = await world.fundedWallet()
  const collection = await deployCollection(harness.chain(), 'ERC721', name)
  await collection.call('mintTo', [address, 'ipfs://x'])
  await tokenActions(world).indexed()
}
