import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, openHarness } from '#testing/platform/harness'
import { runCommand } from '#testing/processes/command'
import { serveUntilEnd } from '#testing/servers/serve'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ lab: true, blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
})
afterAll(() => harness?.close())

const conformance = async (
  args: readonly string[],
  url = harness.url,
  env: Record<string, string | undefined> = {},
) =>
  runCommand({
    command: 'conformance',
    args: [url, ...args],
    env: { BEZANT_API_KEY: harness.apiKey, BEZANT_ENTITY_SECRET: harness.entitySecret, ...env },
  })

type Line = { group: string; check: string; state: string; found?: string }
const linesOf = (stdout: string): Line[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Line => JSON.parse(line))
const inState = (lines: readonly Line[], wanted: string) => lines.filter(({ state }) => state === wanted)

it('property 301: every check holds on this server, money among them', async () => {
  const { code, stdout } = await conformance(['--faucet', '--json'])
  const lines = linesOf(stdout)
  expect(inState(lines, 'FAULT')).toEqual([])
  // Lists of a new entity are short.
  const leftOut = inState(lines, 'left out')
  expect(leftOut.filter(({ found }) => found !== 'the list has fewer than three items')).toEqual([])
  expect(inState(lines, 'ok').length).toBeGreaterThan(80)
  expect(code).toBe(0)
})

it('says what it leaves out, and how many operations it asked', async () => {
  const { code, stdout } = await conformance([], harness.url, { BEZANT_ENTITY_SECRET: undefined })
  expect(stdout).toMatch(/^ {2}left out {2}signs a message .*: set BEZANT_ENTITY_SECRET$/m)
  expect(stdout).toMatch(/\d+ checks: \d+ hold, 0 do not, \d+ left out; \d\d+ of \d+ operations asked\n$/)
  expect(code).toBe(0)
})

it('refuses keys of main networks, unknown groups and networks that are none, and names the remedy', async () => {
  const live = await conformance([], harness.url, { BEZANT_API_KEY: 'LIVE_API_KEY:a:b' })
  expect([live.code, live.stderr]).toEqual([2, expect.stringContaining('take one of test networks')])
  const group = await conformance(['--only', 'wallet'])
  expect([group.code, group.stderr]).toEqual([2, expect.stringContaining('did you mean wallets?')])
  const address = await conformance([], 'example.com')
  expect([address.code, address.stderr]).toEqual([2, expect.stringContaining('must be like http://')])
  const network = await conformance(['--blockchain', 'ETH'])
  expect([network.code, network.stderr]).toEqual([2, expect.stringContaining('a test network')])
})

it('reports each check of a server that is away', async () => {
  const { code, stdout } = await conformance(['--only', 'access', '--json'], 'http://127.0.0.1:9')
  expect(code).toBe(1)
  expect(
    linesOf(stdout).every(({ state, found }) => state === 'FAULT' && /no answer|failed/.test(found!)),
  ).toBe(true)
})

/** A change of answers that a server of the interface must not make, and the check that must name it. */
type Distortion = {
  about: string
  group: string
  /** The requests whose answers are changed. */
  where: RegExp
  change(answer: Answered): Answered
  names: RegExp
}
type Answered = { status: number; headers: Record<string, string>; body: string }

const inBody = (find: RegExp | string, replacement: string | (() => string)) => (answer: Answered) => ({
  ...answer,
  body: answer.body.replaceAll(find, typeof replacement === 'string' ? () => replacement : replacement),
})

const distortions: readonly Distortion[] = [
  {
    about: 'a key that is not looked at',
    group: 'access',
    where: /^GET \/v1\/w3s\/walletSets/,
    change: (answer) =>
      answer.status === 401 ? { ...answer, status: 200, body: '{"data":{"walletSets":[]}}' } : answer,
    names: /without a key: answers 200, not 401/,
  },
  {
    about: 'the same X-Request-Id in all answers',
    group: 'access',
    where: /walletSets/,
    change: (answer) => ({ ...answer, headers: { ...answer.headers, 'x-request-id': 'one' } }),
    names: /X-Request-Id is "one"/,
  },
  {
    about: 'a missing field of a wallet',
    group: 'wallets',
    where: /\/v1\/w3s\/wallets\/[\w-]+$/,
    change: inBody('"custodyType"', '"custody"'),
    names: /another shape: data\.wallet.*custodyType/,
  },
  {
    about: 'a state that does not exist',
    group: 'wallets',
    where: /\/v1\/w3s\/wallets\/[\w-]+$/,
    change: inBody('"LIVE"', '"ALIVE"'),
    names: /state/,
  },
  {
    about: 'another code of an error',
    group: 'errors',
    where: /\/v1\/w3s\/wallets\/[\w-]+$/,
    change: inBody('156001', '404'),
    names: /answers 404 with code 404, not 404 with code 156001/,
  },
  {
    about: 'an error as text',
    group: 'errors',
    where: /\/v1\/payments\/[\w-]+$/,
    change: (answer) => ({ ...answer, body: 'Not found' }),
    names: /a body that is no JSON/,
  },
  {
    about: 'words that a terminal obeys, which are not shown',
    group: 'users',
    where: /^POST \/v1\/w3s\/users$/,
    change: (answer) => ({ ...answer, status: 500, body: '{"code":-1,"message":"\\u001b[2Jgone"}' }),
    names: /answers 500 \(\ufffd\[2Jgone\), not with a success/,
  },
  {
    about: 'pages that repeat their items',
    group: 'lists',
    where: /^GET \/v1\/w3s\/walletSets\?.*pageAfter/,
    change: (answer) => ({ ...answer, body: firstPage }),
    names: /an item is on two pages|pageAfter gives other items/,
  },
  {
    about: 'a signature by another key',
    group: 'signatures',
    where: /sign\/message/,
    change: inBody(/"signature":"0x..../g, '"signature":"0x0123'),
    names: /the signature is by .*, not by 0x/,
  },
  {
    about: 'an idempotency key that counts for nothing',
    group: 'business',
    where: /^POST \/v1\/paymentIntents$/,
    change: inBody(/"id":"[0-9a-f]{8}-/g, () => `"id":"${(++made).toString(16).padStart(8, '0')}-`),
    names: /the id of the repeated request/,
  },
]

/** Headers of a connection, which each hop makes for itself. */
const hopHeaders = [
  'host',
  'connection',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'keep-alive',
]
const withoutHop = (headers: Iterable<[string, unknown]>) =>
  Object.fromEntries([...headers].filter(([name]) => !hopHeaders.includes(name))) as Record<string, string>

/** The server behind a front that changes its answers. */
const openDistortingFront = (change: (call: string, answer: Answered) => Answered): Promise<string> =>
  serveUntilEnd(harness, async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    const answer = await fetch(harness.url + url, {
      method,
      headers: withoutHop(Object.entries(headers)),
      ...(body && { body }),
    })
    const given = { status: answer.status, headers: withoutHop(answer.headers), body: await answer.text() }
    const changed = change(`${method} ${url}`, given)
    response.writeHead(changed.status, changed.headers).end(changed.body)
  })

let made = 0
let firstPage = ''

describe('property 301: a server that is not as described', () => {
  it.each(distortions)('is found by $about', async ({ group, where, change, names }) => {
    if (group === 'lists') {
      for (let count = 0; count < 5; count++) await conformance(['--only', 'wallets'])
      const { text: page } = await harness.http('GET', '/v1/w3s/walletSets?pageSize=2')
      firstPage = page
    }
    const front = await openDistortingFront((call, answer) => (where.test(call) ? change(answer) : answer))
    const { code, stdout } = await conformance(['--only', group], front)
    expect(code).toBe(1)
    expect(
      stdout
        .split('\n')
        .filter((line) => line.startsWith('  FAULT'))
        .join('\n'),
    ).toMatch(names)
  })
})
