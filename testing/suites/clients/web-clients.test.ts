import { randomUUID } from 'node:crypto'
import { initiateUserControlledWalletsClient } from '@circle-fin/user-controlled-wallets'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ListeningServer, startPage } from '#context'
import { freshEmail, mailedCode } from '#testing/builders/users'
import { type World, worldOf } from '#testing/builders/world'
import { type AppPage, type AppSite, openAppSite, openClient, type WebClient } from '#testing/pages/app-site'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { OpenIdProvider } from '#testing/servers/openid-provider'
import { clientIdOf, socialProviderOf, useProvider } from '#testing/servers/social-logins'

/*
 * The published client and `client/web` in the page of an app, which a bundler exchanges: both do the same with the page of users.
 */
let harness: Harness
let world: World
let server: ReturnType<typeof initiateUserControlledWalletsClient>
let users: ListeningServer
let google: OpenIdProvider
let browser: Browser
let sites: Record<WebClient, AppSite>

beforeAll(async () => {
  if (!chromiumPath) return
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
  server = initiateUserControlledWalletsClient({ apiKey: harness.apiKey, baseUrl: harness.url })
  const opened = await Promise.all([
    startPage(harness.ctx),
    socialProviderOf(world),
    openBrowser(),
    openAppSite('published'),
    openAppSite('own'),
  ])
  ;[users, google, browser] = opened
  sites = { published: opened[3], own: opened[4] }
})
afterAll(async () => {
  await browser?.close()
  await Promise.all(Object.values(sites ?? {}).map((site) => site.close()))
  await users?.stop()
  await harness?.close()
})

const inChromium = it.runIf(chromiumPath)

/** Lets the local provider stand at the address of a public one; returns what was asked there. */
async function leadToProvider(context: BrowserContext, pattern: string): Promise<URL[]> {
  const asked: URL[] = []
  await context.route(pattern, (route) => {
    const url = new URL(route.request().url())
    asked.push(url)
    const body = `<script>location.replace(${JSON.stringify(`${google.issuer}/authorize${url.search}`)})</script>`
    return route.fulfill({ contentType: 'text/html', body })
  })
  return asked
}

/** Stops the page's clock: a client is told after ten seconds that the page of users does not answer. */
async function stopTime(page: Page): Promise<void> {
  await page.clock.install({ time: 0 })
  await page.clock.pauseAt(60_000)
}

describe.each(['published', 'own'] as const)('with the %s client, an app', (name) => {
  let context: BrowserContext
  let page: Page
  let app: AppPage
  let site: AppSite

  beforeEach(async () => {
    if (!chromiumPath) return
    site = sites[name]
    context = await browser.newContext({ reducedMotion: 'reduce' })
    page = await context.newPage()
    app = await openClient(page, site.origin, users.url)
  })
  afterEach(() => context?.close())

  const deviceId = () => page.evaluate<string>('sdk.getDeviceId()')
  const screen = (title: string) =>
    app.frame.locator(`#card[data-screen=${title}]:not([aria-busy=true])`).waitFor()
  const go = () => app.frame.getByTestId('footer-main-btn').click()
  const failure = async () => (await app.called())[0]![0]?.['code']
  const frames = () => page.locator('#sdkIframe').count()

  /** Makes the client while the page of users has its address already, as an app has to do which logs in by redirect. */
  const make = async (configs: object) => {
    const address = JSON.stringify(users.url)
    await page.evaluate(`
      globalThis.calls = []
      globalThis.note = (error, result) => void calls.push([error, result])
      globalThis.bezantChallengeUrl = ${address}
      Object.defineProperty(W3SSdk.prototype, 'serviceUrl', { get: () => ${address}, set: () => undefined })
      globalThis.sdk = new W3SSdk(${JSON.stringify(configs)}, note)`)
  }
  const configsFor = (device: object) => ({
    appSettings: { appId: 'app' },
    loginConfigs: { ...device, google: { clientId: clientIdOf(world), redirectUri: `${site.origin}/` } },
  })
  const newDevice = async () =>
    (await server.createDeviceTokenForSocialLogin({ deviceId: await deviceId() })).data!

  inChromium('property 140: learns the id of the browser, the same in each frame', async () => {
    // A frame that follows at once may be of a process that has not seen the writes of the one before.
    await context.addInitScript('Storage.prototype.setItem = () => undefined')
    await page.reload()
    app = await openClient(page, site.origin, users.url)
    const id = await deviceId()
    expect(id).toMatch(/^[\w-]+$/)
    expect(await frames()).toBe(0)
    expect(await deviceId()).toBe(id)
    await page.reload()
    app = await openClient(page, site.origin, users.url)
    expect(await deviceId()).toBe(id)
    expect(await page.evaluate('new W3SSdk() === sdk')).toBe(true)
    if (name === 'own')
      expect(await page.evaluate('Promise.all([sdk.getDeviceId(), sdk.getDeviceId()])')).toEqual([id, id])
    const fresh = await browser.newContext()
    const other = await fresh.newPage()
    await openClient(other, site.origin, users.url)
    await other.evaluate(`for (const each of [1, 2, 3])
      document.body.append(Object.assign(document.createElement('iframe'), { src: '${users.url}/device-id?origin=' + location.origin }))`)
    const ids = 'told.flatMap(({ deviceId }) => deviceId ?? [])'
    await other.waitForFunction(`${ids}.length === 3`)
    expect(new Set(await other.evaluate<string[]>(ids)).size).toBe(1)
    await fresh.close()
  })

  inChromium('logs a user in by e-mail, who approves the first wallet', async () => {
    const [email, id] = [freshEmail(), await deviceId()]
    const begun = (await server.createDeviceTokenForEmailLogin({ deviceId: id, email })).data!
    await app.run(
      'sdk.updateConfigs({ appSettings: { appId: "app" }, loginConfigs: input }, note); sdk.verifyOtp()',
      begun,
    )
    await screen('emailOtp')
    await app.frame.locator('.digits input').first().click()
    await page.keyboard.type(await mailedCode(world, email))
    const [[error, session]] = (await app.called()) as [[unknown, { userToken: string }]]
    expect(error ?? undefined).toBeUndefined()
    expect(await frames()).toBe(0)
    const { userToken } = session
    const { data } = await server.createUserPinWithWallets({
      userToken,
      blockchains: ['BASE-SEPOLIA'] as never,
    })
    await app.run(
      'calls.length = 0; sdk.setAuthentication(input.session); sdk.execute(input.challengeId, note)',
      { session, challengeId: data!.challengeId },
    )
    await screen('recoveryCode')
    expect(await page.locator('#sdkIframe').getAttribute('width')).toBe('100%')
    await app.frame.getByRole('checkbox').check()
    await go()
    expect(await app.called()).toMatchObject([[undefined, { type: 'INITIALIZE', status: 'COMPLETE' }]])
    expect(await frames()).toBe(0)
    expect((await server.listWallets({ userToken })).data!.wallets).toHaveLength(1)
  })

  inChromium('logs a user in by a provider that sends the browser back', async () => {
    const asked = await leadToProvider(context, 'https://accounts.google.com/**')
    const configs = configsFor(await newDevice())
    await app.run('sdk.updateConfigs(input, note); void sdk.performLogin("Google")', configs)
    await page.waitForURL((url) => url.hash.includes('id_token='))
    const { client_id, response_type, nonce, state } = Object.fromEntries(asked[0]!.searchParams)
    expect([client_id, response_type!.split(' ')]).toEqual([
      clientIdOf(world),
      expect.arrayContaining(['id_token']),
    ])
    expect(new Set([nonce, state]).size).toBe(2)
    await make(configs)
    const [[error, session]] = (await app.called()) as [[unknown, { userToken: string }]]
    expect(error ?? undefined).toBeUndefined()
    expect(session).toMatchObject({
      encryptionKey: expect.any(String),
      refreshToken: expect.any(String),
      oAuthInfo: {
        provider: 'Google',
        socialUserUUID: 'person',
        socialUserInfo: { name: 'Ada L.', email: 'ada@example.com' },
      },
    })
    expect((await server.getUserStatus({ userToken: session.userToken })).data!.status).toBe('ENABLED')
    expect([new URL(page.url()).hash, await frames()]).toEqual(['', 0])
  })

  inChromium('logs nobody in with an answer that it did not ask for', async () => {
    const configs = configsFor(await newDevice())
    const token = await google.idToken({ sub: 'victim', aud: clientIdOf(world), nonce: 'another' })
    for (const state of ['another', 'own']) {
      await page.evaluate(
        `for (const [name, value] of [['socialLoginProvider', 'Google'], ['state', 'own'], ['nonce', 'own']])
           localStorage.setItem(name, value)`,
      )
      await page.goto('about:blank')
      await page.goto(`${site.origin}/#state=${state}&id_token=${token}`)
      const sent: string[] = []
      page.on('request', (request) => sent.push(`${request.postData()}`))
      await make(configs)
      // The published client asks the page all the same, without the token.
      const called = await app.called(name === 'published' ? 2 : 1)
      expect([called[0]![0], called.at(-1)![1] ?? undefined]).toMatchObject([{ code: 155140 }, undefined])
      expect(sent.filter((body) => body.includes(token))).toEqual([])
    }
    await app.run('calls.length = 0; void sdk.performLogin("Nobody")')
    expect(await failure()).toBe(155140)
  })

  inChromium('is told after ten seconds that the page of users does not answer', async () => {
    await context.route(`${users.url}/**`, (route) => route.abort())
    await stopTime(page)
    await app.run(`sdk.execute('${randomUUID()}', note)`)
    await page.clock.fastForward(9_000)
    expect(await page.evaluate('calls.length')).toBe(0)
    await page.clock.fastForward(2_000)
    expect(await failure()).toBe(155706)
  })

  inChromium('heeds no messages of other origins', async () => {
    await context.route(`${users.url}/**`, (route) => route.abort())
    await stopTime(page)
    await app.run(`
      sdk.execute('${randomUUID()}', note)
      postMessage({ onComplete: true, result: { type: 'SIGN_MESSAGE', status: 'COMPLETE' } }, '*')`)
    await app.told('onComplete')
    expect([await page.evaluate('calls.length'), await frames()]).toEqual([0, 1])
  })
})

describe('client/web', () => {
  let context: BrowserContext
  let page: Page

  beforeEach(async () => {
    if (!chromiumPath) return
    context = await browser.newContext()
    page = await context.newPage()
    await page.goto(`${sites.own.origin}/`)
    await page.evaluate(
      'globalThis.calls = []; globalThis.note = (error, result) => void calls.push([error, result])',
    )
  })
  afterEach(() => context?.close())

  inChromium(
    'takes the address of the page from its options, from the window or from the build',
    async () => {
      const addresses = await page.evaluate(
        "[new W3SSdk().serviceUrl, (new W3SSdk().updateConfigs({ serviceUrl: 'https://chosen.example' }), new W3SSdk().serviceUrl)]",
      )
      expect(addresses).toEqual(['https://built-in.example', 'https://chosen.example'])
      await page.reload()
      expect(
        await page.evaluate("globalThis.bezantChallengeUrl = 'https://set.example'; new W3SSdk().serviceUrl"),
      ).toBe('https://set.example')
      for (const [address, problem] of [
        ['', 'is missing: set serviceUrl'],
        ['https://pages.example/path', 'must be an origin such as https://pages.example'],
      ])
        await expect(
          page.evaluate(`(new W3SSdk().serviceUrl = '${address}', new W3SSdk().execute('x'))`),
        ).rejects.toThrow(problem)
    },
  )

  inChromium('heeds no messages of frames that it did not open', async () => {
    const app = await openClient(page, sites.own.origin, users.url)
    await context.route(
      ({ href }) => href.startsWith(`${users.url}/?`),
      (route) => route.abort(),
    )
    await stopTime(page)
    await app.run(`
      sdk.execute('${randomUUID()}', note)
      const other = document.createElement('iframe')
      other.src = '${users.url}/device-id?origin=' + location.origin
      document.body.append(other)`)
    expect((await app.told('deviceId'))['from']).toBe(users.url)
    expect([await page.evaluate('calls.length'), await page.locator('#sdkIframe').count()]).toEqual([0, 1])
  })

  inChromium('logs in by Apple without Firebase, by a redirect', async () => {
    useProvider(world, google.issuer, 'Apple')
    const asked = await leadToProvider(context, 'https://appleid.apple.com/**')
    const app = await openClient(page, sites.own.origin, users.url)
    const deviceId = await page.evaluate<string>('sdk.getDeviceId()')
    const device = (await server.createDeviceTokenForSocialLogin({ deviceId })).data!
    const apple = { clientId: clientIdOf(world), redirectUri: `${sites.own.origin}/` }
    const configs = {
      appSettings: { appId: 'app' },
      serviceUrl: users.url,
      loginConfigs: { ...device, apple },
    }
    await app.run(
      `sdk.updateConfigs({ loginConfigs: { apple: { apiKey: 'x', authDomain: 'y' } } })
       void sdk.performLogin('Apple')`,
    )
    expect((await app.called())[0]![0]).toMatchObject({
      code: 155140,
      message: expect.stringContaining('Firebase'),
    })
    await app.run('sdk.updateConfigs(input); void sdk.performLogin("Apple")', configs)
    await page.waitForURL((url) => url.hash.includes('id_token='))
    const { searchParams } = asked[0]!
    expect([searchParams.get('response_mode'), searchParams.get('scope')]).toEqual(['fragment', null])
    await page.evaluate(`
      globalThis.calls = []
      new W3SSdk(${JSON.stringify(configs)}, (error, result) => void calls.push([error, result]))`)
    expect((await app.called())[0]![1]).toMatchObject({ oAuthInfo: { provider: 'Apple' } })
  })
})
