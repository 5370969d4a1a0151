import type { Browser, BrowserContext, Frame, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ListeningServer, startPage } from '#context'
import { hindrances } from '#testing/pages/accessibility'
import { type AppPage, type AppSite, openAppSite, openClient } from '#testing/pages/app-site'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import {
  answerWith,
  execute,
  go,
  lockedPin,
  onScreen,
  type ShownChallenge,
  transfer,
  typeDigits,
  wrongPin,
} from '#testing/pages/page-fixture'
import { type Harness, openHarness } from '#testing/platform/harness'
import { drawn } from '#testing/runner/drawn'
import { isDeep } from '#testing/runner/size'

/*
 * The screens of the page of users, in a browser. The server's answers are those of a fixture, so that each screen is reached
 * at once, also with texts that no server would send.
 */
let harness: Harness
let users: ListeningServer
let site: AppSite
let browser: Browser
let context: BrowserContext | undefined

beforeAll(async () => {
  if (!chromiumPath) return
  harness = await openHarness({ engines: false })
  ;[users, site, browser] = await Promise.all([startPage(harness.ctx), openAppSite(), openBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await site?.close()
  await users?.stop()
  await harness?.close()
})
afterEach(() => context?.close())

const inChromium = it.runIf(chromiumPath)

async function newPage(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    reducedMotion: 'reduce',
    ...options,
  })
  return context.newPage()
}

const unset = { pinStatus: 'UNSET', securityQuestionStatus: 'UNSET' }
const longText = JSON.stringify({ owner: '0x1a2B', list: Array.from({ length: 60 }, (_, i) => i) }, null, 2)

/** Walks through all screens, and calls `look` on each. */
async function walk(app: AppPage, look: (name: string) => Promise<void>): Promise<void> {
  const see = async (name: string, as = name) => {
    await onScreen(app, name)
    await look(as)
  }
  const { page } = app
  const begin = async (
    ...shown: Parameters<typeof answerWith> extends [Page, ...infer Rest] ? Rest : never
  ) => {
    await answerWith(page, ...shown)
    await execute(app)
  }
  await begin({ type: 'INITIALIZE', needs: 'setPin', user: unset })
  await see('initPincode')
  await typeDigits(app, '111111')
  await app.frame.locator('.error:visible').waitFor()
  await look('initPincode with an error')
  await typeDigits(app, '284917')
  await see('confirmInitPincode')
  await typeDigits(app, '284917')
  await see('securityIntros')
  await go(app)
  await see('securityQuestions')
  for (const index of [0, 1]) {
    const section = app.frame.getByTestId('question-input-section').nth(index)
    await section.getByTestId('question-dropdown').locator('button').click()
    if (index === 0) await look('securityQuestions with an open list')
    await app.frame.locator('ul[role=listbox] li').nth(index).click()
    await section.getByTestId('answer-text-input').fill(`Answer ${index}`)
  }
  await look('securityQuestions with answers')
  await go(app)
  await see('securitySummary')
  await go(app)
  await see('securityConfirm')
  await app.frame.locator('input').fill('I agree')
  // It goes on by itself otherwise.
  await frameOf(page).evaluate(`{
    const later = setTimeout
    globalThis.setTimeout = (act, ms) => (ms > 1_000 ? 0 : later(act, ms))
  }`)
  await go(app)
  await see('success')
  await go(app)
  await app.told('onComplete')

  const warnings = [
    { name: 'approve', text: 'This lets another account take tokens from you, now or later.' },
  ]
  await begin({ ...transfer, warnings }, [wrongPin, lockedPin])
  await see('request')
  await go(app)
  await see('enterPincode')
  await typeDigits(app, '284916')
  await app.frame.locator('.error:visible').waitFor()
  await look('enterPincode with an error')
  await typeDigits(app, '284916')
  await see('locked')

  const data = { name: 'typedData', label: 'Data', value: longText }
  await begin({ type: 'SIGN_TYPEDDATA', needs: 'openWithDevice', details: [data] })
  await see('addDevice', 'addDevice after a loss')
  const user = {
    questions: ['What was the name of your first pet?\nthe grey one', 'Where did your parents meet?'],
  }
  await begin({ type: 'RESTORE_PIN', needs: 'restorePin', user })
  await see('recoverPincode')
  await begin({ type: 'SIGN_TYPEDDATA', needs: 'open', details: [data] })
  await see('request', 'request with long data')
  await begin({ type: 'INITIALIZE', needs: 'setDevice' })
  await see('recoveryCode')
  await begin({ type: 'CREATE_WALLET', needs: 'addDevice' })
  await see('addDevice')
  await begin({ type: 'CREATE_WALLET', needs: null, status: 'EXPIRED' })
  await see('failure')
  await begin({ type: 'CREATE_WALLET', needs: null, status: 'IN_PROGRESS' })
  await see('waiting')
  await app.run('sdk.verifyOtp()')
  await see('emailOtp')
}

const frameOf = (page: Page): Frame => page.frames().find((frame) => frame.url().startsWith(users.url))!

describe('every screen can be used by all', () => {
  const looks = [360, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
  )
  for (const { width, colorScheme } of looks)
    it.runIf(chromiumPath && isDeep)(`at ${width} pixels, ${colorScheme}`, async () => {
      const page = await newPage({ viewport: { width, height: 740 }, colorScheme })
      const app = await openClient(page, site.origin, users.url)
      const found: string[] = []
      let seen = 0
      await walk(app, async (name) => {
        found.push(...(await hindrances(frameOf(page))).map((each) => `${name}: ${each}`))
        const wide = await frameOf(page).evaluate('document.documentElement.scrollWidth > innerWidth')
        if (wide) found.push(`${name}: wider than the frame`)
        seen += 1
      })
      expect(found).toEqual([])
      expect(seen).toBe(22)
    })
})

describe('property 54: no unlisted site frames the page, and hostile texts are text', () => {
  const isReady = 'told.some(({ onFrameReady }) => onFrameReady)'

  /** The frame of a page, made by hand: the client would answer at once. */
  const frame = (page: Page, origin: string) =>
    page.evaluate(
      `new Promise((resolve) => {
        const frame = Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(`${users.url}/?origin=${origin}`)} })
        frame.onload = () => setTimeout(() => resolve(${isReady}), 300)
        document.body.append(frame)
      })`,
    )

  /** Like `frame`, where it is let in: its message may come long after its load. */
  const frameReady = async (page: Page, origin: string) => {
    await frame(page, origin)
    await page.waitForFunction(isReady)
  }

  inChromium(
    'names the origin of the address in its policy if an entity lists it, and no other',
    async () => {
      const other = await harness.newEntity()
      const { config } = harness.ctx
      config.loopbackPages = false
      try {
        const listed = site.origin
        const unlisted = `http://127.0.0.1:${site.port}`
        const page = await newPage()
        await page.goto(listed)
        expect(await frame(page, listed)).toBe(false)
        await other.http('PUT', '/operator/pageOrigins', { body: { origins: [listed] } })
        await page.goto(listed)
        await frameReady(page, listed)
        await page.goto(unlisted)
        for (const claimed of [unlisted, listed, '*', "'self'", `${listed} ${unlisted}`])
          expect(await frame(page, claimed)).toBe(false)
        // The listed site within another one: every ancestor has to be listed.
        await page.evaluate(
          `document.body.append(Object.assign(document.createElement('iframe'), { src: '${listed}/?inner', name: 'inner' }))`,
        )
        const inner = await page
          .waitForSelector('iframe[name=inner]')
          .then((element) => element.contentFrame())
        await inner!.waitForFunction('globalThis.told')
        expect(await frame(inner as never, listed)).toBe(false)
        await page.goto(listed)
        await frameReady(page, listed)
        await other.http('PUT', '/operator/pageOrigins', { body: { origins: [] } })
        await page.goto(listed)
        expect(await frame(page, listed)).toBe(false)
      } finally {
        config.loopbackPages = true
      }
    },
  )

  inChromium('sends the same headers with every kind of response', async () => {
    const rest = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'permissions-policy': expect.stringContaining('camera=()'),
    }
    const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    const page = (ancestors: string) =>
      `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: https:; font-src https: data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors ${ancestors}`
    const cases: [path: string, status: number, policy: string][] = [
      [`/?origin=${site.origin}`, 200, page(site.origin)],
      ['/social/verify-email?origin=http://localhost:1', 200, page('http://localhost:1')],
      ['/', 200, page("'none'")],
      ['/device-id?origin=https://evil.example', 200, page("'none'")],
      ['/?origin=http://localhost:1;script-src%20*', 200, page("'none'")],
      [`/?origin=${site.origin}&origin=https://evil.example`, 200, page("'none'")],
      ['/assets/main.js', 200, nothing],
      ['/assets/page.css', 200, nothing],
      ['/ping', 200, nothing],
      ['/page/challenges/x', 401, nothing],
      ['/v1/w3s/wallets', 404, nothing],
      ['/assets/..%2fpackage.json', 404, nothing],
    ]
    for (const [path, status, policy] of cases) {
      const answer = await fetch(users.url + path, { headers: { origin: 'https://evil.example' } })
      const headers = Object.fromEntries(answer.headers)
      expect([path, answer.status, headers]).toEqual([
        path,
        status,
        expect.objectContaining({ ...rest, 'content-security-policy': policy }),
      ])
      for (const name of ['access-control-allow-origin', 'x-frame-options'])
        expect(headers).not.toHaveProperty(name)
    }
    const preflight = await fetch(`${users.url}/page/email/login`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([404, null])
  })

  inChromium('reads messages of its parent alone', async () => {
    const page = await newPage()
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('/page/') && asked.push(request.url()))
    await page.goto(site.origin)
    await frameReady(page, site.origin)
    const w3s = {
      auth: { userToken: 't', encryptionKey: Buffer.alloc(32).toString('base64') },
      challenge: { challengeId: 'stolen' },
    }
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: 'http://127.0.0.1:${site.port}/', name: 'other' }))`,
    )
    const other = await page.waitForSelector('iframe[name=other]').then((element) => element.contentFrame())
    await other!.waitForFunction('globalThis.told')
    await other!.evaluate(`parent.frames[0].postMessage(${JSON.stringify({ w3s })}, '*')`)
    // The page posts to the origin of its address: messages to it come in their order.
    await page.evaluate(
      `document.querySelector('iframe').contentWindow.postMessage(${JSON.stringify({ w3s: { ...w3s, challenge: { challengeId: 'own' } } })}, '*')`,
    )
    await page.waitForFunction('told.some(({ onError }) => onError)')
    expect(asked.map((url) => new URL(url).pathname)).toEqual(['/page/challenges/own'])
  })

  inChromium('refuses users of an entity that does not list the site', async () => {
    const { config } = harness.ctx
    const other = await harness.newEntity()
    const ours = await harness.newEntity()
    await other.http('PUT', '/operator/pageOrigins', { body: { origins: [site.origin] } })
    const { id: userId } = (await ours.http('POST', '/v1/w3s/users', { body: { userId: 'user-1' } })).body
      .data
    const session = (await ours.http('POST', '/v1/w3s/users/token', { body: { userId } })).body.data
    const made = await ours.http('POST', '/v1/w3s/user/pin', {
      body: { idempotencyKey: crypto.randomUUID() },
      headers: { 'X-User-Token': session.userToken },
    })
    const app = await openClient(await newPage(), site.origin, users.url)
    config.loopbackPages = false
    try {
      await app.run(`sdk.setAuthentication(input); sdk.execute(input.id, note)`, {
        ...session,
        id: made.body.data.challengeId,
      })
      await onScreen(app, 'failure')
      expect((await app.called())[0]![0]).toMatchObject({ code: 3 })
      await ours.http('PUT', '/operator/pageOrigins', { body: { origins: [site.origin] } })
      await app.run('sdk.execute(input, note)', made.body.data.challengeId)
      await onScreen(app, 'initPincode')
    } finally {
      config.loopbackPages = true
    }
  })

  const corpus = [
    '<img src=x onerror="globalThis.pwned=1">',
    '<script>globalThis.pwned=1</script>',
    '"><svg onload=globalThis.pwned=1>',
    "'-globalThis.pwned=1-'",
    'javascript:globalThis.pwned=1',
    '</textarea><iframe srcdoc="<script>parent.pwned=1</script>">',
    '{{constructor.constructor("globalThis.pwned=1")()}}',
    'safe\u202egpj.exe\u200b\u2066 \u0000',
    'a'.repeat(5_000),
  ]

  inChromium('renders hostile texts as text, on every screen', async () => {
    const page = await newPage()
    const trouble: string[] = []
    page.on('dialog', (dialog) => {
      trouble.push(dialog.message())
      void dialog.dismiss()
    })
    page.on('pageerror', (error) => trouble.push(error.message))
    page.on(
      'console',
      (message) => /Content Security|Trusted/i.test(message.text()) && trouble.push(message.text()),
    )
    page.on('request', ({ url }) => void (/evil/.test(url.toString()) && trouble.push(url.toString())))
    const app = await openClient(page, site.origin, users.url)
    const inert = async (name: string) => {
      const found = (await frameOf(page).evaluate(`({
        pwned: globalThis.pwned,
        made: document.querySelectorAll('script:not([src="/assets/main.js"]), iframe, img, object, embed, [onerror], [onload], a[href^="javascript"]').length,
      })`)) as { pwned?: number; made: number }
      expect([name, found]).toEqual([name, { made: 0 }])
    }
    for (const text of drawn(corpus, 3)) {
      const shown: ShownChallenge = {
        type: 'CREATE_TRANSACTION',
        needs: 'open',
        details: ['amount', 'to', 'message', text].map((name) => ({ name, label: text, value: text })),
        warnings: [{ name: text, text }],
      }
      await answerWith(page, shown, [{ code: 155112, message: text }])
      await app.run(
        `const words = () => Object.fromEntries(['headline', 'headline2', 'subhead', 'title', 'subtitle', 'forgotPin', 'showPin', 'continue', 'description', 'from', 'networkFee', 'link', 'question'].map((name) => [name, input]))
         const groups = ['common', 'enterPincode', 'initPincode', 'transactionRequest', 'securityIntros', 'securityQuestions', 'recoverPincode', 'emailOtp', 'securityConfirm']
         sdk.setLocalizations(Object.fromEntries(groups.map((name) => [name, words()])))
         sdk.setCustomSecurityQuestions([{ question: input, type: 'TEXT' }], 1, [input])
         sdk.setThemeColor({ bg: input, textMain: 'url(https://evil.example/)', mainBtnBg: 'red;background:url(https://evil.example/)' })
         sdk.setResources({ naviClose: input, errorInfo: 'javascript:alert(1)', fontFamily: { name: input, url: 'https://evil.example/font.css' } })
         sdk.setCustomLinks({ learnMoreUrl: input })`,
        text,
      )
      await execute(app)
      await onScreen(app, 'request')
      await inert('request')
      const summary = (await app.frame.locator('.summary').textContent())!
      expect(summary).toContain(
        text.startsWith('safe') ? 'safe[U+202E]gpj.exe[U+200B][U+2066] [U+0000]' : text,
      )
      await go(app)
      await onScreen(app, 'enterPincode')
      await typeDigits(app, '284917')
      await app.frame.locator('.error:visible').waitFor()
      await inert('enterPincode')
      await answerWith(page, {
        type: 'RESTORE_PIN',
        needs: 'restorePin',
        user: { questions: [text, `${text}\n${text}`] },
      })
      await execute(app)
      await onScreen(app, 'recoverPincode')
      await inert('recoverPincode')
      await answerWith(page, { type: 'SET_PIN', needs: 'setPin', user: unset })
      await execute(app)
      await onScreen(app, 'initPincode')
      await typeDigits(app, '284917')
      await onScreen(app, 'confirmInitPincode')
      await typeDigits(app, '284917')
      await onScreen(app, 'securityIntros')
      await inert('securityIntros')
    }
    expect(trouble).toEqual([])
  })
})

inChromium('property 97: an app neither hides nor replaces what the user approves', async () => {
  const page = await newPage()
  const foreign: string[] = []
  await page.route('https://evil.example/**', (route) => {
    foreign.push(route.request().url())
    return route.abort()
  })
  const app = await openClient(page, site.origin, users.url)
  const warnings = [{ name: 'approve', text: 'This lets another account take tokens from you.' }]
  await answerWith(page, { ...transfer, warnings })
  for (const bg of ['#ffffff', '#101010']) {
    await app.run(
      `sdk.setThemeColor({ bg: input, textSummary: input, textSummaryHighlight: input, textMain: input, textAuxiliary: input, recoverPinHintTitle: input, divider: input })
       sdk.setResources({ fontFamily: { name: 'Evil', url: 'https://evil.example/hide.css' } })
       sdk.setLocalizations({ transactionRequest: {
         title: 'Receive a gift', subtitle: 'You pay nothing.', mainCurrency: { amount: 0, symbol: 'USDC' },
         to: ['0xliar'], toLabel: 'x'.repeat(500), from: '0xliar', total: ['0 USDC'], rawTx: '0x',
       } })`,
      bg,
    )
    await execute(app)
    await onScreen(app, 'request')
    const read = (await frameOf(page).evaluate(`(() => {
      const luminance = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map((part) => ((share) => share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)(part / 255))
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
      }
      const behind = (element) => {
        const { backgroundColor } = getComputedStyle(element)
        return /, 0\\)$/.test(backgroundColor) ? behind(element.parentElement) : backgroundColor
      }
      const parts = [...document.querySelectorAll('h1, .amount, .warning span, .summary dt, .summary dd')]
      return parts.map((part) => {
        const { color, fontFamily, fontSize, opacity } = getComputedStyle(part)
        const [dark, light] = [luminance(color), luminance(behind(part))].sort((a, b) => a - b)
        return { text: part.textContent, contrast: (light + 0.05) / (dark + 0.05), fontFamily, fontSize: parseFloat(fontSize), opacity, seen: part.checkVisibility() }
      })
    })()`)) as {
      text: string
      contrast: number
      fontFamily: string
      fontSize: number
      opacity: string
      seen: boolean
    }[]
    const texts = read.map(({ text }) => text)
    for (const text of ['Transfer', warnings[0]!.text, ...transfer.details!.map(({ value }) => value)])
      expect(texts).toContain(text)
    for (const { text, contrast, fontFamily, fontSize, opacity, seen } of read) {
      expect([text, contrast >= 4.5, fontFamily.includes('Evil'), fontSize >= 12, opacity, seen]).toEqual([
        text,
        true,
        false,
        true,
        '1',
        true,
      ])
      expect(text.length).toBeLessThan(200)
    }
    expect(texts.join()).not.toContain('0xliar')
    expect(await app.frame.locator('.said').textContent()).toContain('0xliar')
  }
  expect(foreign).toEqual([])
})

inChromium('every button leads on, whether or not the app does something', async () => {
  const page = await newPage()
  const app = await openClient(page, site.origin, users.url)
  await answerWith(page, transfer)
  await execute(app)
  await onScreen(app, 'request')
  await app.frame.getByText('Decline').click()
  await onScreen(app, 'declined')
  expect((await app.called())[0]![0]).toMatchObject({ code: 155701 })
  await go(app)
  await app.told('onClose')
  expect(await page.locator('#sdkIframe').count()).toBe(0)

  await execute(app)
  await onScreen(app, 'request')
  await go(app)
  await onScreen(app, 'enterPincode')
  await app.frame.getByText('Forgot PIN?').click()
  await app.frame.getByText('If nothing happens, close this page').waitFor()
  // An app that has set a handler opens the page anew, for the challenge of `restoreUserPin`.
  await app.run(`sdk.setOnForgotPin(() => sdk.execute('22222222-2222-4222-8222-222222222222', note), true)`)
  await answerWith(page, { type: 'RESTORE_PIN', needs: 'restorePin', user: { questions: ['First pet?'] } })
  await app.frame.getByText('Forgot PIN?').click()
  await onScreen(app, 'recoverPincode')

  await app.run('sdk.verifyOtp()')
  await onScreen(app, 'emailOtp')
  await app.frame.getByText('Send another code').click()
  await app.frame.getByText('The app was asked for another code').waitFor()
})
