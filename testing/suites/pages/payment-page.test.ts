/** The page on which customers pay an intent, in a browser, with coins of real local chains. */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import decodeQR from 'qr/decode.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hindrances } from '#testing/pages/accessibility'
import { chromiumPath } from '#testing/pages/browser'
import { hostileTexts } from '#testing/pages/hostile-texts'
import { openPaymentPages, reads, stageIs } from '#testing/pages/payment-pages'

type Opened = Awaited<ReturnType<typeof openPaymentPages>>

let opened: Opened
let harness: Opened['harness']
let pages: Opened['pages']
beforeAll(async () => {
  if (!chromiumPath) return
  opened = await openPaymentPages()
  ;({ harness, pages } = opened)
})
afterAll(() => opened?.close())
afterEach(() => opened?.closePage())

const inChromium = it.runIf(chromiumPath)
const unit = 1_000_000n
const openIntent: Opened['openIntent'] = (...args) => opened.openIntent(...args)
const visit: Opened['visit'] = (...args) => opened.visit(...args)

/** The text of the code on the page, as a camera reads it. */
async function codeOn(page: Page): Promise<string> {
  const { side, grays } = (await page.evaluate(`(async () => {
    const image = document.querySelector('img')
    await image.decode()
    const side = 320
    const pen = Object.assign(document.createElement('canvas'), { width: side, height: side }).getContext('2d')
    pen.fillStyle = 'white'
    pen.fillRect(0, 0, side, side)
    pen.drawImage(image, 0, 0, side, side)
    const { data } = pen.getImageData(0, 0, side, side)
    return { side, grays: Array.from({ length: side * side }, (_, at) => data[4 * at]) }
  })()`)) as { side: number; grays: number[] }
  const data = Uint8ClampedArray.from(grays.flatMap((gray) => [gray, gray, gray, 255]))
  return decodeQR({ width: side, height: side, data }, { timeLimit: 5_000 })
}

describe('a payment page', () => {
  inChromium('shows amount, address and code without a script', async () => {
    const { url, address } = await openIntent('25.50')
    const { page } = await visit(url, { javaScriptEnabled: false })
    expect(await page.locator('h1').textContent()).toBe('25.50 USDC')
    expect(await page.locator('.facts .mono').first().textContent()).toBe(address)
    expect(await page.locator('img').getAttribute('alt')).toBe('QR code of the payment on Base-Sepolia')
    const { tokens, chainId } = harness.chain('MATIC-AMOY')
    await page.getByRole('link', { name: 'Polygon-Amoy' }).click()
    await reads(page, 'Send USDC on Polygon-Amoy only.')
    const request = `ethereum:${tokens.USDC.toLowerCase()}@${chainId}/transfer?address=${address}&uint256=25500000`
    expect(await page.getByRole('link', { name: 'Open in your wallet' }).getAttribute('href')).toBe(request)
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0)
    await page.getByRole('link', { name: 'Look again' }).click()
    await reads(page, 'Send USDC on Polygon-Amoy only.')
  })

  inChromium('follows a payment in two parts on two chains, with its confirmations and a reorg', async () => {
    const { url, address } = await openIntent('10.00')
    const [base, amoy] = harness.chains
    const { page, outside, broken } = await visit(url)
    await stageIs(page, 'waiting')
    expect(await codeOn(page)).toContain('&uint256=10000000')
    await base!.send(address, 4n * unit, 'USDC')
    await stageIs(page, 'underpaid')
    await reads(page, '6.00 USDC still missing')
    expect(await page.locator('h1').textContent()).toBe('6.00 USDC')
    expect(await codeOn(page)).toContain('&uint256=6000000')
    await amoy!.send(address, 6n * unit, 'USDC')
    await stageIs(page, 'confirming')
    await reads(page, '1 of 2 confirmations')
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.locator('#spoken').textContent()).toContain('Payment seen')
    // The block that holds it is lost: the page asks for the money again.
    await amoy!.reorg(1)
    await stageIs(page, 'underpaid')
    await reads(page, 'Waits to be in a block again')
    await amoy!.send(address, 6n * unit, 'USDC')
    await stageIs(page, 'confirming')
    await amoy!.mine(1)
    await stageIs(page, 'paid')
    expect(await page.title()).toBe('Paid')
    expect(await page.locator('#spoken').textContent()).toContain('10.00 USDC arrived')
    expect(await page.getByRole('link', { name: 'Return to shop.example' }).getAttribute('href')).toBe(
      'https://shop.example/orders/1042',
    )
    expect([outside, broken]).toEqual([[], []])
    for (const [chain, amounts] of [
      [base, [4n * unit]],
      [amoy, [6n * unit]],
    ] as const) {
      const transfers = await chain!.oracle.transfers({ to: address as `0x${string}` })
      expect(transfers.map(({ amountAtomic }) => amountAtomic)).toEqual(amounts)
    }
  })

  inChromium('tells of too much, of refunds, and of an end without the whole amount', async () => {
    const over = await openIntent('3.00')
    await harness.chain().send(over.address, 5n * unit, 'USDC')
    const { page } = await visit(over.url)
    await stageIs(page, 'overpaid')
    await reads(page, 'Paid, 2.00 USDC too much')
    await harness.http('POST', `/v1/paymentIntents/${over.id}/refund`, {
      body: {
        idempotencyKey: randomUUID(),
        destination: { address: harness.chain().outsider, chain: 'BASE' },
        amount: { currency: 'USD' },
        toAmount: { amount: '2.00', currency: 'USD' },
      },
    })
    await stageIs(page, 'refunded')
    await reads(page, 'is sending 2.00 USDC back')

    const late = await openIntent('3.00')
    const never = await openIntent('3.00')
    const closed = await openIntent('3.00')
    await harness.chain().send(late.address, unit, 'USDC')
    await page.goto(late.url)
    await stageIs(page, 'underpaid')
    await harness.http('POST', `/v1/paymentIntents/${closed.id}/expire`, { body: {} })
    await page.goto(closed.url)
    await reads(page, 'The merchant closed this payment')
    harness.clock.moveMs(9 * 3_600_000)
    for (const [{ url, address }, stage, text] of [
      [late, 'endedUnderpaid', '1.00 of 3.00 USDC arrived'],
      [never, 'expired', 'Send nothing to its address any more'],
    ] as const) {
      await page.goto(url)
      await stageIs(page, stage)
      await reads(page, text)
      expect(await page.locator('#page').textContent()).not.toContain(address)
    }
  })

  inChromium('takes any amount where none is asked for, again and again', async () => {
    const { url, address } = await openIntent(undefined)
    const { page } = await visit(url)
    expect(await page.locator('h1').textContent()).toBe('Any amount USDC')
    for (const sum of ['2.00', '4.00']) {
      await harness.chain().send(address, 2n * unit, 'USDC')
      await reads(page, `${sum} USDC arrived so far`)
    }
    expect(await codeOn(page)).not.toContain('uint256')
  })

  inChromium('is used with the keyboard alone, and copies', async () => {
    const { url, address } = await openIntent('7.00')
    const { page } = await visit(url)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.live').waitFor()
    const focused = () =>
      page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')
    const order: unknown[] = []
    for (let presses = 0; presses < 9; presses++) {
      await page.keyboard.press('Tab')
      order.push(await focused())
    }
    expect(order).toEqual([
      'Base-Sepolia',
      'Polygon-Amoy',
      'Open in your wallet',
      'Show a code of the address alone',
      'Copy the amount',
      'Copy the address',
      'More about USDC on Base-Sepolia',
      'Return to shop.example',
      expect.anything(),
    ])
    const paste = () => page.evaluate('navigator.clipboard.readText()')
    for (const [name, text] of [
      ['Copy the address', address],
      ['Copy the amount', '7.00'],
    ] as const) {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
      await page.locator('#spoken', { hasText: 'Copied' }).waitFor()
      await expect.poll(paste).toBe(text)
    }
    // A choice is kept in the address, and the focus stays where it was.
    await page.getByRole('link', { name: 'Polygon-Amoy' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('[aria-current]', { hasText: 'Polygon-Amoy' }).waitFor()
    expect([await focused(), new URL(page.url()).search]).toEqual(['Polygon-Amoy', '?chain=POLY'])
    await page.getByRole('link', { name: 'Show a code of the address alone' }).click()
    await page.locator('img[alt="QR code of the address on Polygon-Amoy"]').waitFor()
    expect(await codeOn(page)).toBe(address)
    await page.reload()
    await page.locator('img[alt="QR code of the address on Polygon-Amoy"]').waitFor()
  })

  for (const colorScheme of ['light', 'dark'] as const)
    inChromium(`has no hindrance and reflows, ${colorScheme}`, async () => {
      const waiting = await openIntent('1.00')
      const under = await openIntent('8.00', { description: 'Order 1042' })
      const paid = await openIntent('2.00', { chains: [] })
      const closed = await openIntent('2.00')
      await harness.chain().send(under.address, unit, 'USDC')
      await harness.chain().send(paid.address, 2n * unit, 'USDC')
      await harness.http('POST', `/v1/paymentIntents/${closed.id}/expire`, { body: {} })
      const found: string[] = []
      const { page } = await visit(waiting.url, { colorScheme })
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        for (const [url, stage] of [
          [waiting.url, 'waiting'],
          [under.url, 'underpaid'],
          [paid.url, 'paid'],
          [closed.url, 'cancelled'],
          [`${waiting.url.slice(0, -4)}AAAA`, 'none'],
        ] as const) {
          await page.goto(url)
          await stageIs(page, stage)
          await page.evaluate('document.querySelector("details")?.setAttribute("open", "")')
          const here = await hindrances(page.mainFrame(), ['target-size'])
          found.push(...here.map((each) => `${stage} ${width}: ${each}`))
          if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
            found.push(`${stage} ${width}: wider than the window`)
        }
      }
      expect(found).toEqual([])
    })
})

const withoutUnseen = (text: string) =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu, '')

describe('property 255: a payment page', () => {
  inChromium('shows texts of a merchant as texts, asks no other site, and is framed by none', async () => {
    const texts = hostileTexts
      .map((text) => [...text].slice(0, 60).join(''))
      .filter((text) => text.trim() !== '')
    let shown = 0
    for (const text of texts) {
      const contents = {
        merchantName: text,
        description: text,
        returnUrl: `https://shop.example/${text}`,
      }
      const { url } = await openIntent('1.00', contents).catch(() => ({ url: undefined }))
      // The API refuses a few: half a character, or a NUL.
      if (!url) continue
      const { page, outside, broken } = await visit(url)
      await page.locator('.live').waitFor()
      const name = page.locator('.merchant .name')
      expect(await name.locator('*').count()).toBe(0)
      const named = ((await name.textContent()) ?? '').replaceAll(/\[U\+[0-9A-F]{4,6}\]/g, '')
      expect(withoutUnseen(named)).toBe(withoutUnseen(text.trim()))
      expect([await page.evaluate('globalThis.broken'), outside, broken]).toEqual([undefined, [], []])
      expect(new URL((await page.getByRole('link', { name: 'Return to' }).getAttribute('href'))!).host).toBe(
        'shop.example',
      )
      shown += 1
      await opened.closePage()
    }
    expect(shown).toBeGreaterThan(25)
  })

  inChromium('sends a policy that allows nothing else, with every answer', async () => {
    const { url } = await openIntent('1.00')
    const bad = `${url.slice(0, -4)}AAAA`
    const page =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'"
    const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    for (const [address, status, policy] of [
      [url, 200, page],
      [bad, 404, page],
      [`${url}?chain=%3Cscript%3E&of=%22%3E`, 200, page],
      [`${url}/code.svg?chain=BASE&of=payment`, 200, nothing],
      [`${bad}/code.svg`, 404, nothing],
      [`${pages.url}/assets/pay/main.js`, 200, nothing],
      [`${pages.url}/page/payments/${url.split('/').at(-1)}`, 200, nothing],
    ] as const) {
      const answer = await fetch(address, { headers: { origin: 'https://evil.example' } })
      const headers = Object.fromEntries(answer.headers)
      expect([address, answer.status, headers]).toEqual([
        address,
        status,
        expect.objectContaining({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' }),
      ])
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
    expect((await fetch(url.replace(pages.url, harness.url))).status).toBe(404)
  })
})
