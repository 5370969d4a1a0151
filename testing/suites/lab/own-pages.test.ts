/** The operations of a sandbox need no key: pages of other sites, which reach this machine too, must not drive it. */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chromiumPath, openBrowser } from '#testing/pages/browser'
import { until } from '#testing/platform/until'
import { type Program, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'

const friend = 'http://localhost:5173'

let dataDir: string
let program: Program
beforeAll(async () => {
  dataDir = await initializedDirectory()
  program = await startProgram({ dataDir, args: ['--chains', 'BASE-SEPOLIA', '--cors', friend] })
})
afterAll(async () => {
  await program?.killAll()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const ask = (method: string, path: string, headers: Record<string, string>) =>
  program.tenant.http(method, path, { headers, ...(method === 'POST' && { body: {} }) })
const offset = async () => (await program.tenant.http('GET', '/sandbox/clock')).body.data.offsetMs

it.each([
  ['another site', { origin: 'https://shop.example' }],
  ['a page of another port of this machine', { origin: 'http://127.0.0.1:1' }],
  ['a page without an origin, as of a file', { origin: 'null' }],
  ['a name that was rebound to this machine', { host: 'shop.example:4020' }],
  ['a name that begins like this machine', { host: '127.0.0.1.shop.example' }],
  ['an origin that begins like that of a friend', { origin: `${friend}.shop.example` }],
])('refuses %s', async (_, headers) => {
  const before = await offset()
  for (const [method, path] of [
    ['GET', '/sandbox'],
    ['GET', '/sandbox/ciphertext'],
    ['POST', '/sandbox/clock/freeze'],
    ['POST', '//sandbox/clock/freeze'],
    ['POST', '/sandbox/clock/freeze/'],
    ['GET', '/%73andbox'],
    ['POST', '/%73andbox/clock/freeze'],
    ['POST', '/sandbo%78/clock/%66reeze'],
  ] as const) {
    const { status, text } = await ask(method, path, headers)
    expect([403, 404], `${method} ${path} ${text}`).toContain(status)
  }
  expect(await offset()).toBe(before)
  expect((await program.tenant.http('GET', '/sandbox/clock')).body.data.isFrozen).toBe(false)
})

it('says how to let the page of a developer use them', async () => {
  const { body } = await ask('GET', '/sandbox', { origin: 'http://localhost:3000' })
  expect(body.message).toContain('--cors http://localhost:3000')
})

it('lets its own pages, those of --cors and programs pass', async () => {
  const { port } = new URL(program.answer.url)
  for (const headers of [
    { origin: friend },
    { origin: `http://127.0.0.1:${port}` },
    { host: `localhost:${port}`, origin: `http://localhost:${port}` },
    { host: `bezant.localhost:${port}` },
    {},
  ] as Record<string, string>[]) {
    const { status, text } = await ask('GET', '/sandbox', headers)
    expect(status, `${JSON.stringify(headers)} ${text}`).toBe(200)
  }
})

it('lets pages of every origin use the interface, whose keys are no cookies', async () => {
  const { status } = await ask('GET', '/v1/w3s/wallets', { origin: 'https://shop.example' })
  expect(status).toBe(200)
})

it.runIf(chromiumPath)('a page of another site that tries all that a page can do moves nothing', async () => {
  const site = createServer((_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><iframe name="away"></iframe>'),
  ).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const browser = await openBrowser()
  const page = await browser.newPage()
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
  const freeze = `${program.answer.url}/sandbox/clock/freeze`
  const answered: string[] = []
  page.on('response', (response) => {
    if (response.url() === freeze) answered.push(`${response.request().resourceType()} ${response.status()}`)
  })
  const read = await page.evaluate(`(async () => {
    const url = '${freeze}'
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const answers = await Promise.allSettled([
      fetch(url, json),
      fetch(url, { method: 'POST', mode: 'no-cors', body: '{}' }),
      fetch(url.replace('/clock/freeze', '')),
    ])
    const form = Object.assign(document.createElement('form'), { action: url, method: 'post', target: 'away' })
    document.body.append(form)
    form.submit()
    return Promise.all(answers.map((each) => (each.status === 'fulfilled' ? each.value.text() : each.status)))
  })()`)
  await until(async () => answered.some((each) => each.startsWith('document')), 'the form was answered')
  await browser.close()
  await new Promise((resolve) => site.close(resolve))
  expect(answered.filter((each) => !each.endsWith(' 403'))).toEqual([])
  expect(String(read)).not.toContain(program.answer.entitySecret)
  expect((await program.tenant.http('GET', '/sandbox/clock')).body.data.isFrozen).toBe(false)
})
