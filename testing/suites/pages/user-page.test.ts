import { randomBytes, randomUUID } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { verifyMessage } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ListeningServer, startPage } from '#context'
import { freshEmail, logIn, mailedCode, makeUser } from '#testing/builders/users'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type AppPage, type AppSite, openAppSite, openClient } from '#testing/pages/app-site'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { answers, pageActions } from '#testing/pages/page-actions'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

/*
 * The page of users in a browser, opened by the published client in the page of an app.
 */
let harness: Harness
let world: World
let client: ReturnType<typeof initiateUserControlledWalletsClient>
let users: ListeningServer
let site: AppSite
let browser: Browser
let context: BrowserContext
let page: Page
let app: AppPage
/** What the page sent, and where. */
let sent: { url: string; body: string }[]
/** What the browser refused, and what went wrong in the page. */
let complaints: string[]

beforeAll(async () => {
  if (!chromiumPath) return
  harness = await openHarness()
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
beforeEach(async () => {
  if (!chromiumPath) return
  context = await browser.newContext({ viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' })
  page = await context.newPage()
  sent = []
  complaints = []
  page.on('request', (request) => sent.push({ url: request.url(), body: request.postData() ?? '' }))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  app = await openClient(page, site.origin, users.url)
})
afterEach(() => context?.close())

const inChromium = it.runIf(chromiumPath)
const deepInChromium = it.runIf(chromiumPath && isDeep)
const [pin, newPin] = ['258014', '917364']

type Session = { userId: string; userToken: string; encryptionKey: string }

async function newSession(): Promise<Session> {
  const { id: userId } = await makeUser(world)
  return { userId, ...((await client.createUserToken({ userId })).data as Omit<Session, 'userId'>) }
}

const { screen, go, type, choosePin, chooseQuestions, execute } = pageActions(() => app)
const error = async () => (await app.frame.locator('.error:visible').textContent()) ?? ''
/** Evaluates an expression in the page of users. */
const inFrame = (expression: string) =>
  page
    .frames()
    .find((frame) => frame.url().startsWith(users.url))!
    .evaluate(expression)
const approvals = () => sent.filter(({ url }) => url.endsWith('/approval'))
const result = async () => {
  // The page goes on by itself, a little later.
  const onward = app.frame.locator('[data-screen=success]').getByTestId('footer-main-btn')
  await onward.click({ timeout: 3_000 }).catch(() => undefined)
  const [[failure, success]] = (await app.called()).slice(-1) as [
    [unknown, { status: string; data?: { signature: string } }],
  ]
  expect(failure ?? undefined).toBeUndefined()
  return success
}

/** A user with a PIN, answers and a wallet, made in the page. */
async function initialized(): Promise<Session & { wallet: Wallet }> {
  const session = await newSession()
  const { data } = await client.createUserPinWithWallets({
    userToken: session.userToken,
    blockchains: ['BASE-SEPOLIA'] as never,
  })
  await execute(session, data!.challengeId!)
  await choosePin(pin)
  await chooseQuestions()
  expect(await result()).toMatchObject({ type: 'INITIALIZE', status: 'COMPLETE' })
  const { wallets } = (await client.listWallets({ userToken: session.userToken })).data!
  return { ...session, wallet: wallets![0] as Wallet }
}

describe('the page of users', () => {
  inChromium('initialises a user, pays, signs, and changes and restores the PIN', async () => {
    const session = await initialized()
    const { userToken, wallet } = session
    expect(await app.frame.locator('#card').count()).toBe(0)

    await harness.fundWallet(wallet.address, { usdc: '10', native: '1' })
    await until(
      async () =>
        (await client.getWalletTokenBalance({ userToken, walletId: wallet.id })).data!.tokenBalances!
          .length === 2,
      'the wallet shows its coins',
    )
    const destinationAddress = freshAddress()
    const transfer = { walletId: wallet.id, tokenId: world.usdcId, destinationAddress, amounts: ['2.5'] }
    const fee = { type: 'level', config: { feeLevel: 'MEDIUM' } } as const
    const paid = await client.createTransaction({ userToken, ...transfer, fee })
    await execute(session, paid.data!.challengeId!)
    await screen('request')
    const shown = (await app.frame.locator('.content').textContent()) ?? ''
    for (const text of ['2.5 USDC', destinationAddress.slice(2), wallet.address])
      expect(shown.toLowerCase()).toContain(text.toLowerCase())
    await go()
    await type('111112', 'enterPincode')
    expect(await app.told('onError')).toMatchObject({ error: { code: 155112 } })
    expect(await error()).toContain('3 more tries before it is locked')
    await type(pin, 'enterPincode')
    await until(async () => (await app.called(2)).length > 1, 'the app is told')
    const { oracle, tokens } = harness.chain()
    await until(
      async () => (await oracle.balanceOf(destinationAddress, tokens.USDC)) === 2_500_000n,
      'it is paid',
    )

    const message = 'Sign in to the shop'
    const signed = await client.signMessage({ userToken, walletId: wallet.id, message })
    await execute(session, signed.data!.challengeId!)
    await screen('request')
    await go()
    await type(pin, 'enterPincode')
    const { data } = (await result())!
    expect(
      await verifyMessage({ address: wallet.address as never, message, signature: data!.signature as never }),
    ).toBe(true)

    await execute(session, (await client.updateUserPin({ userToken })).data!.challengeId!)
    await type(pin, 'enterPincode')
    await choosePin(newPin, 'newPincode', 'confirmNewPincode')
    expect(await result()).toMatchObject({ type: 'CHANGE_PIN', status: 'COMPLETE' })

    await execute(session, (await client.restoreUserPin({ userToken })).data!.challengeId!)
    await screen('recoverPincode')
    for (const index of [0, 1]) await app.frame.getByTestId('answer-text-input').nth(index).fill('wrong')
    await go()
    await choosePin(pin, 'newPincode', 'confirmNewPincode')
    await screen('recoverPincode')
    expect(await error()).toContain('3 more tries before the security questions are locked')
    for (const index of [0, 1])
      await app.frame.getByTestId('answer-text-input').nth(index).fill(answers[index]!.toUpperCase())
    await go()
    await choosePin(pin, 'newPincode', 'confirmNewPincode')
    await until(
      async () => (await app.called(2)).at(-1)![1]?.['status'] === 'COMPLETE',
      'the PIN is restored',
    )
    expect(complaints.filter((text) => !/status of 400/.test(text))).toEqual([])
  })

  inChromium('locks after four wrong PINs, and shows for how long', async () => {
    const session = await initialized()
    const { userToken, wallet } = session
    const { data } = await client.signMessage({ userToken, walletId: wallet.id, message: 'x' })
    await execute(session, data!.challengeId!)
    await screen('request')
    await go()
    for (const wrong of ['111112', '111113', '111114', '111115']) await type(wrong, 'enterPincode')
    await screen('locked')
    expect(await app.frame.locator('.countdown').textContent()).toMatch(/^(30:00|29:\d\d)$/)
    expect((await client.getUserStatus({ userToken })).data!.pinStatus).toBe('LOCKED')
    await app.frame.getByText('Forgot PIN?').click()
    await app.told('onForgotPin')
    // A page that is opened anew begins with the lock.
    await execute(session, data!.challengeId!)
    await screen('request')
    await go()
    await screen('locked')
  })

  deepInChromium('refuses weak and differing PINs, and hints that tell the answer', async () => {
    const session = await newSession()
    const { data } = await client.createUserPin({ userToken: session.userToken })
    await execute(session, data!.challengeId!)
    for (const weak of ['000000', '123456', '987654']) {
      await type(weak, 'initPincode')
      expect(await error()).toContain('easy to guess')
    }
    await type(pin, 'initPincode')
    await type(newPin, 'confirmInitPincode')
    expect(await error()).toContain('different')
    await choosePin(pin)
    await screen('securityIntros')
    await go()
    for (const index of [0, 1]) {
      const section = app.frame.getByTestId('question-input-section').nth(index)
      await section.getByTestId('question-dropdown').locator('button').click()
      await app.frame.locator('ul[role=listbox] li').nth(index).click()
      await section.getByTestId('answer-text-input').fill(answers[index]!)
      await section.locator('input').last().fill(`It is ${answers[index]!.toLowerCase()}`)
    }
    await go()
    const codes = async () =>
      (await app.page.evaluate(
        'told.filter((each) => each.onError).map(({ error }) => error.code)',
      )) as number[]
    await until(async () => (await codes()).length === 5, 'the app is told five errors')
    expect(await codes()).toEqual([155704, 155704, 155704, 155703, 155705])
    expect(approvals()).toEqual([])
  })

  deepInChromium('takes pasted digits, keys, and one press of many', async () => {
    const session = await newSession()
    const { data } = await client.createUserPin({ userToken: session.userToken })
    await execute(session, data!.challengeId!)
    await screen('initPincode')
    const paste = (text: string) =>
      inFrame(`(() => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text', ${JSON.stringify(text)})
        document.querySelector('.digits input').dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }))
      })()`)
    await paste('٢٥٨٠١٤')
    expect(
      await inFrame("[...document.querySelectorAll('.digits input')].map(({ value }) => value).join('')"),
    ).toBe('')
    await paste('258-014')
    await type('2580', 'confirmInitPincode')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('8014')
    await chooseQuestionsTwice()
    expect(await result()).toMatchObject({ type: 'SET_PIN', status: 'COMPLETE' })
    expect(approvals()).toHaveLength(1)
  })

  /** The last press is a double click, and the page is gone back and forth. */
  async function chooseQuestionsTwice() {
    await screen('securityIntros')
    await go()
    await app.frame.getByLabel('Back').click()
    await screen('securityIntros')
    await app.frame.getByLabel('Back').click()
    await choosePin(pin)
    await screen('securityIntros')
    await go()
    for (const [index, answer] of answers.entries()) {
      const section = app.frame.getByTestId('question-input-section').nth(index)
      await section.getByTestId('question-dropdown').locator('button').click()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await section.getByTestId('answer-text-input').fill(answer)
    }
    await page.keyboard.press('Enter')
    await screen('securitySummary')
    await go()
    await app.frame.locator("input:not([type='password'])").first().fill(' i AGREE ')
    await app.frame.getByTestId('footer-main-btn').dblclick()
  }

  inChromium('tells its device, and logs in by a mailed code', async () => {
    const deviceId = (await page.evaluate('sdk.getDeviceId()')) as string
    expect(deviceId).toMatch(/^[0-9a-f-]{36}$/)
    expect(await page.evaluate('sdk.getDeviceId()')).toBe(deviceId)
    const email = freshEmail()
    const begun = (await client.createDeviceTokenForEmailLogin({ deviceId, email })).data!
    const open = (tokens: object) =>
      app.run(
        'calls.length = 0; sdk.updateConfigs({ appSettings: { appId: "app" }, loginConfigs: input }, note); sdk.verifyOtp()',
        tokens,
      )
    await open(begun)
    const otp = await mailedCode(world, email)
    await type(String((Number(otp) + 1) % 1_000_000).padStart(6, '0'), 'emailOtp')
    expect(await error()).toBe('This is not the code from the e-mail. 2 more tries are left.')
    expect((await app.called())[0]![0]).toMatchObject({ code: 155134 })
    await app.frame.getByText('Send another code').click()
    await app.told('onResendOtpEmail')
    const { otpToken } = (
      await client.resendOTP({ userToken: '', otpToken: begun.otpToken!, email, deviceId })
    ).data!
    await open({ ...begun, otpToken })
    await type(await mailedCode(world, email), 'emailOtp')
    await until(
      async () => (await app.called())[0]![1] !== null && (await app.called())[0]![1] !== undefined,
      'the app has a session',
    )
    const session = (await app.called())[0]![1] as Session
    expect(Object.keys(session).sort()).toEqual(['encryptionKey', 'refreshToken', 'userToken'])
    expect(await page.locator('#sdkIframe').count()).toBe(0)
    await approveOnDevices(session, email)
  })

  const forgetSecrets = () =>
    inFrame(`new Promise((done) => {
      indexedDB.deleteDatabase('device').onsuccess = () => done()
    })`)

  /** A user without a PIN approves with the secret of a device, and with the recovery code on another one. */
  async function approveOnDevices(session: Omit<Session, 'userId'>, email: string) {
    const { userToken } = session
    const { data } = await client.createUserPinWithWallets({
      userToken,
      blockchains: ['BASE-SEPOLIA'] as never,
    })
    await execute(session, data!.challengeId!)
    await screen('recoveryCode')
    const code = (await app.frame.locator('.recovery').textContent()) ?? ''
    expect(code).toMatch(/^([0-9A-Z]{4}-){13}[0-9A-Z]{4}$/)
    await app.frame.getByRole('checkbox').check()
    await go()
    expect(await result()).toMatchObject({ type: 'INITIALIZE', status: 'COMPLETE' })
    const wallet = (await client.listWallets({ userToken })).data!.wallets![0] as Wallet
    const sign = async (of: Omit<Session, 'userId'>) => {
      const made = await client.signMessage({ userToken: of.userToken, walletId: wallet.id, message: 'x' })
      await execute(of, made.data!.challengeId!)
    }
    const signature = async () => {
      await screen('request')
      await go()
      const { data: { signature } = {} } = (await result()) as { data?: { signature?: string } }
      expect(
        await verifyMessage({
          address: wallet.address as never,
          message: 'x',
          signature: signature as never,
        }),
      ).toBe(true)
    }
    await sign(session)
    await screen('request')
    await forgetSecrets()
    await signature()
    // This browser has lost the secret of the device, and gets another one.
    await sign(session)
    await screen('addDevice')
    await app.frame.locator('textarea').fill(code)
    await go()
    await signature()
    await sign(session)
    await signature()
    // Another browser: its session is of another device.
    const other = await logIn(world, email)
    await sign(other)
    await screen('addDevice')
    await app.frame.locator('textarea').fill(`${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`)
    await go()
    expect(await error()).toContain('letter by letter')
    await app.frame.locator('textarea').fill(code.toLowerCase().replaceAll('-', ' '))
    await go()
    await signature()
  }

  deepInChromium('tells the app that the user closed it, and what is wrong with a session', async () => {
    const session = await newSession()
    const { data } = await client.createUserPin({ userToken: session.userToken })
    const { encryptionKey: _, ...other } = await newSession()
    await execute({ ...other, encryptionKey: session.encryptionKey }, data!.challengeId!)
    await screen('failure')
    expect((await app.called())[0]![0]).toMatchObject({ code: 155116 })
    await go()
    await execute(session, randomUUID())
    await screen('failure')
    await execute({ ...session, encryptionKey: randomBytes(32).toString('base64') }, data!.challengeId!)
    await choosePin(pin)
    await chooseQuestions()
    await screen('failure')
    expect((await app.called())[0]![0]).toMatchObject({ code: 155118 })
    await execute(session, data!.challengeId!)
    await screen('initPincode')
    await app.frame.getByLabel('Close').click()
    await app.told('onClose')
    expect((await app.called())[0]![0]).toMatchObject({ code: 155701 })
    expect(await page.locator('#sdkIframe').count()).toBe(0)
  })

  inChromium(
    'property 96: what the user enters leaves the page encrypted to the session, for its own server alone',
    async () => {
      await initialized()
      const foreign = sent.filter(({ url }) => ![users.url, site.origin].includes(new URL(url).origin))
      expect(foreign).toEqual([])
      const secrets = [
        pin,
        ...answers,
        ...[pin, ...answers].map((secret) => Buffer.from(secret).toString('base64').replace(/=+$/, '')),
      ]
      for (const { url, body } of sent) for (const secret of secrets) expect(url + body).not.toContain(secret)
      const told = (await page.evaluate('JSON.stringify(told)')) as string
      for (const secret of secrets) expect(told).not.toContain(secret)
      expect(JSON.parse(approvals()[0]!.body)).toEqual({
        purpose: 'setPin',
        submission: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
        origin: site.origin,
      })
      const stored = await context.storageState({ indexedDB: true })
      for (const secret of secrets) expect(JSON.stringify(stored)).not.toContain(secret)
    },
  )
})

it('answers nothing but the page, its operations and the probe', async () => {
  if (!chromiumPath) return
  const ask = httpAs(users.url, harness.apiKey)
  for (const path of [
    '/docs',
    '/docs/reference',
    '/console',
    '/openapi.json',
    '/v1/w3s/wallets',
    '/v1/configuration',
    '/sandbox',
    '/metrics',
    '/operator/chains',
    '/ready',
  ])
    expect([path, (await ask('GET', path)).status]).toEqual([path, 404])
  expect((await ask('GET', '/ping')).status).toBe(200)
  expect((await ask('POST', '/page/email/login', { body: {} })).status).toBe(400)
})
