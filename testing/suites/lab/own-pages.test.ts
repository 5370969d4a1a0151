/** The operations of a sandbox need no key: pages of other sites, which reach this machine too, must not drive it. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
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
