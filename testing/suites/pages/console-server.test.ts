/** The console of a server that is no sandbox, in a real browser: members sign in, each with their role. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startApi } from '#context'
import { openAsOwner, sql } from '#runtime/db/db'
import type { MemberRole } from '#runtime/scope'
import { codeOf, makeMember } from '#testing/builders/members'
import { makeTransfer, makeWallet, type World, worldOf } from '#testing/builders/world'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { builtConsole } from '#testing/pages/built-console'
import { type ConsolePage, openConsole } from '#testing/pages/console-page'
import { typeSignIn } from '#testing/pages/sign-in'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { makeReview } from '#testing/requests/review-requests'
import { root } from '#testing/runner/root'

let harness: Harness
let world: World
let browser: Browser
let url: string
let stop: () => Promise<unknown>
const opened: ConsolePage[] = []

beforeAll(async () => {
  if (!chromiumPath) return
  await builtConsole()
  ;[harness, browser] = await Promise.all([openHarness({ config: { reviewApprovers: 2 } }), openBrowser()])
  world = worldOf(harness)
  // The API as `bezant serve` starts it.
  const config = { ...harness.ctx.config, publicUrl: undefined }
  const api = await startApi({ ...harness.ctx, config })
  ;({ url, stop } = api)
})
afterAll(async () => {
  await browser?.close()
  await stop?.()
  await harness?.close()
})
afterEach(async () => {
  for (const { context, complaints } of opened.splice(0)) {
    await context.close()
    expect(complaints).toEqual([])
  }
})

const inChromium = it.runIf(chromiumPath)

async function console() {
  const page = await openConsole(browser, url)
  opened.push(page)
  return page
}

/** A browser of its own in which a member has signed in, on the page of `path`. */
async function signedIn(role: MemberRole, path = '/') {
  const member = await makeMember(world, role)
  const shown = await console()
  await shown.open(path)
  await typeSignIn(shown, member)
  await shown.when(`document.querySelector('nav.side') !== null`)
  return { ...shown, member }
}

inChromium('opens every page without the lab, while there is nothing to show', async () => {
  const { page, open } = await signedIn('operator')
  const own = page.locator('nav.side a[href^="/console"]')
  const paths = await own.evaluateAll((links) => links.map((link) => link.pathname))
  expect(paths.length).toBeGreaterThan(20)
  for (const path of paths) {
    await open(path.replace(/^\/console/, '') || '/')
    expect(await page.locator('main h1').count(), path).toBe(1)
  }
})

inChromium(
  'tells a wrong password, takes the right one, and keeps nothing that a script can read',
  async () => {
    const { id } = await makeWallet(world)
    const shown = await console()
    const { page, open, shows } = shown
    const member = await makeMember(world)
    await open(`/wallets/${id}`)
    expect(await shown.hindrances()).toEqual([])
    await typeSignIn(shown, { ...member, password: 'not the password' })
    await shows('The name or the password is wrong.')
    await typeSignIn(shown, member)
    await shows('BASE-SEPOLIA')
    await shows(`${member.name}, operator`)
    expect(await page.locator('nav >> text=Faults').count()).toBe(0)
    expect(await page.locator('[role=toolbar]').count()).toBe(0)
    const readable = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])',
    )
    expect(readable).not.toContain('bezant')
    expect(await shown.hindrances()).toEqual([])
    await page.reload()
    await shows('BASE-SEPOLIA')
    await page.click('button[aria-label="Sign out"]')
    await shows('Password')
    await open(`/wallets/${id}`)
    expect(await page.textContent('body')).not.toContain(id)
  },
)

inChromium('offers a viewer no act, and returns to the sign-in when the session has ended', async () => {
  const { id } = await makeWallet(world)
  const { page, open, shows } = await signedIn('viewer', `/wallets/${id}`)
  await shows('BASE-SEPOLIA')
  expect(await page.locator('main button:has-text("Transfer")').count()).toBe(0)
  await harness.database.run(sql`update member_sessions set used_date = now() - interval '13 hours'`)
  // The page may have noticed by itself, and have no link any more.
  await page.evaluate(`document.querySelector('nav a[href$="/movements"]')?.click()`)
  await shows('Your session has ended.')
  await open('/movements')
  await shows('Password')
})

inChromium('tells a viewer whether the audit trail was altered, and where', async () => {
  const { id } = await makeWallet(world)
  const { page, open, shows } = await signedIn('viewer', '/audit')
  const verify = () => page.click('main button:text-is("Verify")')
  const position = () => world.call('GET', `/operator/auditEntries?resourceId=${id}`)
  await until(async () => (await position()).at(-1)?.position, 'the entry is linked')
  await verify()
  await shows('Nothing was altered')
  const owner = openAsOwner(harness.connection)
  const change = (actor: string) =>
    owner.tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`)
      await tx.run(
        sql`update audit set actor = ${actor} where resource_id = ${id} and action = 'wallet.created'`,
      )
    })
  const { actor } = (await position()).at(-1)
  await change('member:somebody')
  await verify()
  await shows('1 finding')
  await shows('the entry or its event is not as it was when it was linked')
  await change(actor)
  await owner.close()
  await open(`/audit?resourceId=${id}`)
  await shows('wallet.created')
})

inChromium('property 197: follows what happens by the session, live', async () => {
  await world.fundedWallet()
  const { page, shows, when } = await signedIn('viewer', '/transactions')
  await when(`document.querySelector('.top .live.open') !== null`)
  const rows = await page.locator('a[data-row]').count()
  await makeTransfer(world, '0.02')
  await when(`document.querySelectorAll('a[data-row]').length > ${rows}`)
  await shows('0.02')
})

inChromium('property 197: makes one-time codes for a member, which the next sign-in asks for', async () => {
  const { page, member, shows, hindrances } = await signedIn('viewer')
  const dialog = page.locator('dialog[open]')
  await page.click('nav button:has-text("One-time codes")')
  await dialog.locator('input[type=password]').fill('not the password')
  await dialog.locator('button[type=submit]').click()
  await dialog.locator('text=The name or the password is wrong.').waitFor()
  await dialog.locator('input[type=password]').fill(member.password)
  await dialog.locator('button[type=submit]').click()
  const secret = (await dialog.locator('pre').textContent())!.match(/[A-Z2-7]{32}/)![0]
  expect(await dialog.locator('a').getAttribute('href')).toContain(secret)
  expect(await hindrances()).toEqual([])
  await dialog.locator('input[inputmode=numeric]').fill(codeOf(secret))
  await dialog.locator('button[type=submit]').click()
  await shows('Your session has ended.')
  await typeSignIn({ page }, member)
  await page.fill('input[inputmode=numeric]', codeOf(secret, 1))
  await page.click('button[type=submit]')
  await shows(`${member.name}, viewer`)
})

inChromium('property 198: lets two operators decide a review, and none alone', async () => {
  const { id } = await makeReview(world)
  const stateOf = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state
  const approve = async ({ page }: Pick<ConsolePage, 'page'>) => {
    await page.click('main button:has-text("Approve")')
    await page.fill(
      'dialog label:has-text("Reason") input, dialog label:has-text("Reason") textarea',
      'known',
    )
    await typeWord(page)
    await page.click('dialog button[type=submit]')
  }
  const first = await signedIn('operator', `/reviews/${id}`)
  await approve(first)
  await first.when(`document.querySelector('dialog') === null`)
  await approve(first)
  await first.shows('another operator has to approve')
  const second = await signedIn('operator', `/reviews/${id}`)
  await approve(second)
  await second.shows('approved')
  await until(async () => (await stateOf()) === 'COMPLETE', 'the transfer is paid')
})

inChromium('makes a key, shows it once, and revokes it', async () => {
  const { page, shows } = await signedIn('operator', '/keys')
  await page.click('main button:has-text("Create")')
  await page.click('dialog button[type=submit]')
  await shows('It is shown only now.')
  const text = (await page.textContent('dialog pre'))!
  const [key] = /TEST_API_KEY:\w+:\w+/.exec(text)!
  const ask = () => fetch(`${url}/v1/w3s/wallets`, { headers: { Authorization: `Bearer ${key}` } })
  expect((await ask()).status).toBe(200)
  await page.click('dialog button:has-text("Done")')
  const id = key.split(':')[1]!.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
  await page.goto(`${url}/console/keys/${id}`)
  await page.click('main button:has-text("Revoke")')
  await typeWord(page)
  await page.click('dialog button[type=submit]')
  await until(async () => (await ask()).status === 401, 'the key does not work any more')
})

/** Types the word that an act in production asks for. */
async function typeWord(page: ConsolePage['page']) {
  const typed = page.locator('dialog label:has-text("Type") input')
  if ((await typed.count()) === 0) return
  await typed.fill(
    (await page
      .locator('dialog label:has-text("Type") b, dialog label:has-text("Type") code')
      .first()
      .textContent())!,
  )
}

/** Every kind of path of the lab, below `/sandbox`. */
const ofSandbox = [
  ...['', '/ciphertext', '/clock', '/clock/advance', '/clock/freeze', '/clock/release', '/faucet', '/reset'],
  ...[
    '/faults',
    '/faults/met',
    '/faults/replay',
    '/faults/rules',
    '/faults/rules/x',
    '/faults/presets/reorgs',
  ],
  ...['/chains', '/chains/BASE-SEPOLIA/mine', '/chains/BASE-SEPOLIA/reorg', '/chains/BASE-SEPOLIA/pause'],
  ...['/snapshots', '/snapshots/x', '/snapshots/x/restore', '/snapshots/x/export', '/snapshots/x/import'],
  ...['/catcher', '/catcher/x', '/catcher/x/messages', '/catcher/x/behaviour', '/catcher/x/subscriptions'],
  ...['/listeners', '/listeners/x', '/listeners/x/answers', '/triggers', '/mails'],
]

inChromium('property 197: lets a page of another site do nothing in the session of a member', async () => {
  const { page, context } = await signedIn('operator', '/keys')
  await page.waitForSelector('tbody tr')
  const keys = async () => (await world.call('GET', '/operator/apiKeys')).length
  const before = await keys()
  const site = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<iframe name="away"></iframe>'),
  ).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const other = await context.newPage()
  // The name is of another site than the number by which the console is open, and reaches the same machine.
  await other.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
  const answered: number[] = []
  other.on('response', (response) => {
    if (response.url().startsWith(url)) answered.push(response.status())
  })
  const read = await other.evaluate<string>(`(async () => {
    const target = '${url}/operator/apiKeys'
    const body = JSON.stringify({ scopes: ['api'] })
    const send = (options) => fetch(target, { credentials: 'include', ...options })
    const json = { 'content-type': 'application/json' }
    const answers = await Promise.allSettled([
      send({}),
      send({ method: 'POST', headers: json, body }),
      send({ method: 'POST', headers: { ...json, 'x-bezant-console': 'guessed' }, body }),
      send({ method: 'POST', mode: 'no-cors', body }),
    ])
    const form = Object.assign(document.createElement('form'), { action: target, method: 'post', target: 'away' })
    document.body.append(form)
    form.submit()
    const texts = await Promise.all(answers.map(({ value }) => value?.text()))
    return JSON.stringify(texts)
  })()`)
  await until(async () => answered.length > 0, 'the server has refused')
  await new Promise((resolve) => site.close(resolve))
  expect(answered.filter((status) => status < 400)).toEqual([])
  expect(read).not.toContain('"data"')
  expect(await keys()).toBe(before)
})

inChromium('has neither the operations nor the scripts of the lab', async () => {
  for (const path of ofSandbox)
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const { status } = await fetch(`${url}/sandbox${path}`, { method })
      expect([method, path, status]).toEqual([method, path, 404])
    }
  const scripts = readdirSync(join(root, 'console/dist/assets')).filter((name) => name.endsWith('.js'))
  const ofLab = scripts.filter((name) => name.startsWith('lab-'))
  expect(ofLab.length).toBeGreaterThan(5)
  for (const name of ofLab)
    expect([name, (await fetch(`${url}/console/assets/${name}`)).status]).toEqual([name, 404])
})
