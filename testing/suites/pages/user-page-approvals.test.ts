/** All that a user can approve in the page, by the published client, at the width of a phone and of a desk. */
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { verifyTypedData } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ListeningServer, startPage } from '#context'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type AppPage, type AppSite, openAppSite, openClient } from '#testing/pages/app-site'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { newSession, type PageSession, pin } from '#testing/pages/page'
import { pageActions } from '#testing/pages/page-actions'
import { type Harness, openHarness } from '#testing/platform/harness'
import { rpc } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let world: World
let client: ReturnType<typeof initiateUserControlledWalletsClient>
let users: ListeningServer
let site: AppSite
let browser: Browser
let context: BrowserContext
let page: Page
let app: AppPage

const deepInChromium = it.runIf(chromiumPath && isDeep)

beforeAll(async () => {
  if (!chromiumPath || !isDeep) return
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
  client = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
  ;[users, site, browser] = await Promise.all([startPage(harness.ctx), openAppSite(), openBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await site?.close()
  await users?.stop()
  await harness?.close()
})
afterEach(() => context?.close())

async function open(width: number) {
  context = await browser.newContext({ viewport: { width, height: 760 }, reducedMotion: 'reduce' })
  page = await context.newPage()
  app = await openClient(page, site.origin, users.url)
}

const { screen, go, type, choosePin, chooseQuestions, execute } = pageActions(() => app)

// biome-ignore lint/suspicious/noExplicitAny: results have many shapes
async function completed(): Promise<any> {
  const onward = app.frame.locator('[data-screen=success]').getByTestId('footer-main-btn')
  await onward.click({ timeout: 3_000 }).catch(() => undefined)
  const [failure, result] = (await app.called()).at(-1)!
  expect(failure ?? undefined).toBeUndefined()
  expect(result).toMatchObject({ status: 'COMPLETE' })
  return result
}

/** Approves what the page shows, and returns that text and the result. */
async function approve(session: PageSession, challengeId: string) {
  await execute(session, challengeId)
  await screen('request')
  const shown = (await app.frame.locator('.content').textContent()) ?? ''
  await go()
  await type(pin, 'enterPincode')
  return { shown, result: await completed() }
}

/** A user who sets a PIN and two answers in the page, and gets wallets. */
async function initialized(blockchains: string[], accountType: 'EOA' | 'SCA') {
  const session = await newSession(world)
  const { userToken } = session
  const asked = { userToken, blockchains: blockchains as never, accountType }
  await execute(session, (await client.createUserPinWithWallets(asked)).data!.challengeId!)
  await choosePin()
  await chooseQuestions()
  await completed()
  const { wallets } = (await client.listWallets({ userToken })).data!
  expect(wallets!.map(({ blockchain }) => blockchain).sort()).toEqual([...blockchains].sort())
  return { session, wallet: wallets!.find(({ blockchain }) => blockchain === 'BASE-SEPOLIA') as Wallet }
}

async function funded(session: PageSession, { id: walletId, address }: Wallet, native: string | undefined) {
  await harness.fundWallet(address, { usdc: '10', ...(native && { native }) })
  await until(async () => {
    const { tokenBalances } = (await client.getWalletTokenBalance({ ...session, walletId } as never)).data!
    return tokenBalances!.some(({ token }) => token.symbol === 'USDC')
  }, 'the wallet shows its coins')
}

const stateOf = async ({ userToken }: PageSession, id: string) =>
  (await client.getTransaction({ userToken, id })).data!.transaction!.state
const hashOf = async ({ userToken }: PageSession, id: string) =>
  (await client.getTransaction({ userToken, id })).data!.transaction!.txHash
const reaches = (session: PageSession, id: string, state: string) =>
  until(async () => (await stateOf(session, id)) === state, `the transaction is ${state}`)
const created = async ({ userToken }: PageSession, challengeId: string) =>
  (await client.getUserChallenge({ userToken, challengeId })).data!.challenge!.correlationIds![0]!
const usdcOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)
const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const

describe.each([360, 1280])('at %i pixels', (width) => {
  deepInChromium(
    'a wallet of two chains calls a contract, signs typed data, accelerates and cancels',
    async () => {
      await open(width)
      const { session, wallet } = await initialized(['BASE-SEPOLIA', 'ETH-SEPOLIA'], 'EOA')
      const { userToken } = session
      const { id: walletId, address } = wallet
      await funded(session, wallet, '1')
      const { rpcUrl, tokens, setAutomine, mine } = harness.chain()

      const spender = freshAddress()
      const call = await client.createUserTransactionContractExecutionChallenge({
        userToken,
        walletId,
        contractAddress: tokens.USDC,
        fee,
        abiFunctionSignature: 'approve(address,uint256)',
        abiParameters: [spender, '5000000'],
      })
      const approval = await approve(session, call.data!.challengeId!)
      expect(approval.shown).toContain('may take 5 USDC')
      expect(approval.shown).toContain('lets another account take tokens')
      await reaches(session, await created(session, call.data!.challengeId!), 'COMPLETE')
      const words = [address, spender].map((each) => each.slice(2).padStart(64, '0')).join('')
      const allowance = { to: tokens.USDC, data: `0xdd62ed3e${words}` }
      expect(BigInt(await rpc<string>(rpcUrl, 'eth_call', [allowance, 'latest']))).toBe(5_000_000n)

      const typed = {
        domain: { name: 'Shop', chainId: 84532 },
        primaryType: 'Order',
        types: { EIP712Domain: [], Order: [{ name: 'item', type: 'string' }] },
        message: { item: 'tea' },
      }
      typed.types.EIP712Domain = [
        { name: 'name', type: 'string' },
        { name: 'chainId', type: 'uint256' },
      ] as never
      const data = JSON.stringify(typed)
      const asked = (await client.signTypedData({ userToken, walletId, data })).data!
      const { shown, result } = await approve(session, asked.challengeId!)
      expect(shown).toContain('item: tea')
      const { signature } = result.data
      expect(await verifyTypedData({ ...typed, address, signature } as never)).toBe(true)

      await setAutomine(false)
      const [fast, gone] = [freshAddress(), freshAddress()]
      const paid: string[] = []
      for (const destinationAddress of [fast, gone]) {
        const transfer = { walletId, tokenId: world.usdcId, destinationAddress, amounts: ['1'] }
        const { challengeId } = (await client.createTransaction({ userToken, ...transfer, fee })).data!
        await approve(session, challengeId!)
        paid.push(await created(session, challengeId!))
        await reaches(session, paid.at(-1)!, 'SENT')
      }
      const sent = await Promise.all(paid.map((id) => hashOf(session, id)))
      const [accelerated, cancelled] = paid as [string, string]
      const faster = (await client.accelerateTransaction({ userToken, id: accelerated })).data!
      expect((await approve(session, faster.challengeId!)).shown.toLowerCase()).toContain(fast.slice(2))
      await approve(
        session,
        (await client.cancelTransaction({ userToken, id: cancelled })).data!.challengeId!,
      )
      // A block that holds an original ends the test otherwise, so the pool must hold both replacements first.
      for (const hash of sent)
        await until(
          async () => (await rpc(rpcUrl, 'eth_getTransactionByHash', [hash])) === null,
          'the transaction is replaced',
        )
      await until(async () => {
        await mine()
        return (await stateOf(session, accelerated)) === 'COMPLETE'
      }, 'the accelerated transfer is complete')
      await until(async () => {
        await mine()
        return (await stateOf(session, cancelled)) === 'CANCELLED'
      }, 'the other one is cancelled')
      await setAutomine(true)
      expect([await usdcOf(fast), await usdcOf(gone)]).toEqual([1_000_000n, 0n])
    },
  )

  deepInChromium(
    'a smart account pays without coins for gas, and a locked PIN opens again in time',
    async () => {
      await open(width)
      const { session, wallet } = await initialized(['BASE-SEPOLIA'], 'SCA')
      const { userToken } = session
      await funded(session, wallet, undefined)
      const destinationAddress = freshAddress()
      const transfer = { walletId: wallet.id, tokenId: world.usdcId, destinationAddress, amounts: ['1.5'] }
      const { challengeId } = (await client.createTransaction({ userToken, ...transfer, fee })).data!
      await execute(session, challengeId!)
      await screen('request')
      await go()
      for (const wrong of ['111112', '111113', '111114', '111115']) await type(wrong, 'enterPincode')
      await screen('locked')
      harness.clock.moveMs(30 * 60_000)
      await approve(session, challengeId!)
      await reaches(session, await created(session, challengeId!), 'COMPLETE')
      expect(await usdcOf(destinationAddress)).toBe(1_500_000n)
    },
  )
})
