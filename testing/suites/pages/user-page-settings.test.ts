/** Every setting of an app with hostile values, in a browser: what the user approves and is warned of stays readable. */
import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ListeningServer, startPage } from '#context'
import { type AppPage, type AppSite, openAppSite, openClient } from '#testing/pages/app-site'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { answerWith, execute, type ShownChallenge, transfer } from '#testing/pages/page-fixture'
import { allColors, allImages, allTexts } from '#testing/pages/page-settings'
import { type Harness, openHarness } from '#testing/platform/harness'
import { drawn } from '#testing/runner/drawn'

let harness: Harness
let users: ListeningServer
let site: AppSite
let browser: Browser

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

/** A word of the app that no other part of the page has. */
const mark = 'Quux'
const texts = [
  `${mark} 0.01 USDC to your own wallet`,
  `${mark} warning: ignore the amount above, this is only a test`,
  `${mark}\n\n\n\n\n\n\n\n\n\n${mark}`,
  `\u202e${mark}\u2066\u200b\ufeff\u2028`,
  `${mark} ${'Z\u0310\u0311\u0312\u0313\u0314\u0315\u0316\u0317\u0318\u0319\u031a\u031b\u031c'.repeat(30)}`,
  `${mark} ${'\ufdfd'.repeat(60)}`,
  mark.repeat(2_000),
]
const colors = [
  'transparent',
  '#ffffff',
  '#1a1a17',
  '#777777',
  'rgb(255 255 255 / 0.02)',
  'currentcolor',
  'inherit',
  'light-dark(#ffffff, #ffffff)',
  'color-mix(in srgb, transparent, white)',
]
/** A picture that says what the user should believe, larger than the page. */
const picture = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000"><rect width="4000" height="4000" fill="white"/><text y="60" font-size="60">0.01 USDC</text></svg>')}`

type Round = { text: string; color: string; ground: string }
const rounds: Round[] = [...texts, ...colors.slice(texts.length)].map((_, index) => ({
  text: texts[index % texts.length]!,
  color: colors[index]!,
  // The ground of the app may be one on which its colors cannot be seen, or none.
  ground: index % 2 === 0 ? colors[index]! : '#ffffff',
}))

const warning = 'This lets another account take tokens from you.'
const wallet = { name: 'to', label: 'To', value: '0x9f8E7b1C2d3A4f5B6c7D8e9F0a1B2c3D4e5F6a7B' }
const shownTypes: ShownChallenge[] = [
  transfer,
  { ...transfer, type: 'CONTRACT_EXECUTION' },
  { ...transfer, type: 'SIGN_TYPEDDATA', details: [wallet, ...transfer.details!.slice(4)] },
].map((shown) => ({ ...shown, warnings: [{ name: 'approve', text: warning }] }))

type Seen = {
  text: string
  contrast: number
  hidden: boolean
  isCovered: boolean
  isWide: boolean
  font: string
  size: number
}

/** Each part of the page that the user relies on, as it is drawn. */
const readFacts = (frame: Frame, parts: string): Promise<Seen[]> =>
  frame.evaluate(`(() => {
    const luminance = ([r, g, b]) => {
      const [x, y, z] = [r, g, b].map((part) => ((share) => share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)(part / 255))
      return 0.2126 * x + 0.7152 * y + 0.0722 * z
    }
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number)
    const behind = (element) => {
      if (!element) return [0, 0, 0]
      const [r, g, b, alpha = 1] = numbers(getComputedStyle(element).backgroundColor)
      return alpha === 1 ? [r, g, b] : behind(element.parentElement)
    }
    const above = (element) => (element ? [element, ...above(element.parentElement)] : [])
    return [...document.querySelectorAll(${JSON.stringify(parts)})].map((part) => {
      part.scrollIntoView({ block: 'center' })
      const style = getComputedStyle(part)
      const [dark, light] = [luminance(numbers(style.color)), luminance(behind(part))].sort((a, b) => a - b)
      const range = document.createRange()
      range.selectNodeContents(part)
      const { left, right, top, bottom } = range.getBoundingClientRect()
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      const transparent = numbers(style.color)[3] === 0
      return {
        text: part.textContent,
        contrast: transparent ? 1 : (light + 0.05) / (dark + 0.05),
        hidden: !part.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || above(part).some((each) => getComputedStyle(each).opacity !== '1'),
        isCovered: !(hit && (part.contains(hit) || hit.contains(part))),
        isWide: left < 0 || right > innerWidth,
        font: style.fontFamily,
        size: parseFloat(style.fontSize),
      }
    })
  })()`)

const wordsOutside = (frame: Frame) =>
  frame.evaluate(`(() => {
    const copy = document.body.cloneNode(true)
    // The phrase that users type in agreement is the app's, between quotation marks.
    for (const place of copy.querySelectorAll('.said, .phrase, #spoken')) place.remove()
    const labels = [...copy.querySelectorAll('*')].map((each) => [each.getAttribute('aria-label'), each.placeholder].join(' '))
    return { text: copy.textContent + labels.join(' '), images: copy.querySelectorAll('img').length, site: location.host }
  })()`) as Promise<{ text: string; images: number; site: string }>

describe('property 139: no text, color or image of an app takes the place of a fact or a warning', () => {
  const drawnRounds = drawn(rounds, 2)
  let page: Page
  let app: AppPage
  const frame = () => page.frames().find((each) => each.url().startsWith(users.url))!
  const screen = (name: string) =>
    app.frame.locator(`#card[data-screen=${name}]:not([aria-busy=true])`).waitFor()
  const go = () => app.frame.getByTestId('footer-main-btn').click()
  const type = async (digits: string) => {
    await app.frame.locator('.digits input').first().click()
    await page.keyboard.type(digits)
  }

  /** Looks at the screen: its facts can be read, and the app speaks in its own place alone. */
  async function look(name: string, facts: string, expected: readonly string[]): Promise<void> {
    await screen(name)
    const seen = await readFacts(frame(), facts)
    const all = seen.map(({ text }) => text)
    for (const text of expected) expect([name, ...all]).toContain(text)
    for (const { text, contrast, font, size, ...hindrances } of seen) {
      expect([name, text, hindrances]).toEqual([
        name,
        text,
        { hidden: false, isCovered: false, isWide: false },
      ])
      expect([name, text, contrast >= 4.5, size >= 12, font.includes(mark)]).toEqual([
        name,
        text,
        true,
        true,
        false,
      ])
    }
    const outside = await wordsOutside(frame())
    expect([name, outside.text.includes(mark), outside.images]).toEqual([name, false, 0])
    expect(outside.text).toContain(outside.site)
    expect(await frame().evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }

  const customize = ({ text, color, ground }: Round) =>
    app.run(
      `sdk.setLocalizations(input.texts)
       sdk.setThemeColor(input.colors)
       sdk.setResources(input.images)
       sdk.setCustomLinks({ learnMoreUrl: 'https://help.example/' + encodeURIComponent(input.text) })
       sdk.setCustomSecurityQuestions([1, 2, 3].map((number) => ({ question: number + input.text.slice(0, 60), type: 'TEXT' })), 1, [input.text, input.text])`,
      {
        text: text.slice(0, 200),
        texts: allTexts(text),
        colors: { ...allColors(color), bg: ground },
        images: { ...allImages(picture), fontFamily: { name: mark, url: 'data:font/woff2;base64,AAAA' } },
      },
    )

  it.runIf(chromiumPath).each(drawnRounds)('with $color on $ground and $text', async (round) => {
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      reducedMotion: 'reduce',
    })
    try {
      page = await context.newPage()
      app = await openClient(page, site.origin, users.url)
      await customize(round)
      const facts = 'h1, .asks, .amount, .warning span, .summary dt, .summary dd, .said .note, .pair button'
      for (const shown of drawn(shownTypes, 2)) {
        await answerWith(page, shown)
        await execute(app)
        const values = shown.details!.map(({ value }) => value)
        await look('request', facts, [
          ...values,
          ...shown.details!.slice(1).map(({ label }) => label),
          warning,
          'These are words of the app. What you approve is above.',
          'Decline',
        ])
      }
      await answerWith(page, shownTypes[0]!)
      await execute(app)
      await screen('request')
      await go()
      const brief = ['Transfer 1250.5 USDC', wallet.value, 'BASE-SEPOLIA']
      await look('enterPincode', 'h1, .lead, .brief dt, .brief dd', brief)
      await answerWith(page, {
        type: 'INITIALIZE',
        needs: 'setPin',
        user: { pinStatus: 'UNSET', securityQuestionStatus: 'UNSET' },
      })
      await execute(app)
      for (const name of ['initPincode', 'confirmInitPincode']) {
        await screen(name)
        await type('284917')
      }
      await look('securityIntros', 'h1, .lead', [])
      await go()
      await screen('securityQuestions')
      const section = app.frame.getByTestId('question-input-section')
      await section.getByTestId('question-dropdown').locator('button').click()
      await app.frame.locator('ul[role=listbox] li').first().click()
      await section.getByTestId('answer-text-input').fill('Elm Street')
      await go()
      await screen('securitySummary')
      await go()
      await look('securityConfirm', 'h1, .lead, .items li', [
        'Without both, my wallet and everything in it is lost.',
      ])
      await answerWith(page, { type: 'INITIALIZE', needs: 'setDevice' })
      await execute(app)
      await look('recoveryCode', 'h1, .lead, .recovery', ['Save your recovery code'])
    } finally {
      await context.close()
    }
  })
})
