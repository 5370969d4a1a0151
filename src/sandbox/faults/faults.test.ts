/** Faults by a plan, through the API of a sandbox, its nodes and its webhooks. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress, makeWalletSet, type World } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openWebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
let world: World
let on: ReturnType<typeof transferActions>

beforeAll(async () => {
  harness = await openHarness({ lab: true })
  on = transferActions(harness)
  world = on.world
})
afterEach(() => lab('DELETE', '/sandbox/faults'))
afterAll(() => harness?.close())

async function lab(method: string, path: string, body?: string) {
  const response = await fetch(harness.url + path, {
    method,
    ...(body !== undefined && { body, headers: { 'Content-Type': 'application/yaml' } }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

const plan = (rules: string, seed = 7) => `apiVersion: bezant/v1\nseed: ${seed}\nrules:\n${rules}`
async function apply(rules: string, seed?: number) {
  const { status, body } = await lab('PUT', '/sandbox/faults', plan(rules, seed))
  expect([status, body.message]).toEqual([200, undefined])
  return body.data
}
const met = async () => (await lab('GET', '/sandbox/faults/met')).body.data
const list = () => harness.http('GET', '/v1/w3s/walletSets')

describe('requests', () => {
  it('are refused as often and as the plan says, and tell by which rule', async () => {
    await apply(
      '- { name: limited, on: request, match: { route: "GET /v1/w3s/walletSets" }, when: { after: 1, times: 2 }, do: { status: 429, retryAfter: 2s } }',
    )
    const answers = [await list(), await list(), await list(), await list()]
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 429, 200])
    expect([answers[1]!.headers.get('retry-after'), answers[1]!.headers.get('x-bezant-fault')]).toEqual([
      '2',
      'limited#1',
    ])
    expect(answers[0]!.headers.get('x-bezant-fault')).toBeNull()
    expect(await met()).toMatchObject([
      { rule: 'limited', on: 'request', match: 2, hit: 1, about: { route: 'GET /v1/w3s/walletSets' } },
      { rule: 'limited', match: 3, hit: 2 },
    ])
    expect((await lab('GET', '/sandbox/faults')).body.data.hits).toEqual({ limited: 2 })
  })

  it('property 172: whose answer is lost were done once, and are answered when they are sent again', async () => {
    await apply(
      '- { name: lost, on: request, match: { route: "POST /v1/w3s/developer/walletSets" }, when: { times: 2 }, do: { lose: answer } }',
    )
    const body = {
      idempotencyKey: randomUUID(),
      entitySecretCiphertext: await harness.sealSecret(),
      name: 'Once',
    }
    const ask = async () =>
      harness.http('POST', '/v1/w3s/developer/walletSets', {
        body: { ...body, entitySecretCiphertext: await harness.sealSecret() },
      })
    await expect(ask()).rejects.toThrow()
    await expect(ask()).rejects.toThrow()
    const { status, body: answer } = await ask()
    expect(status).toBe(200)
    const sets = await world.call('GET', '/v1/w3s/walletSets?pageSize=50')
    const named = sets.walletSets.filter(({ name }: { name: string }) => name === 'Once')
    expect(named.map(({ id }: { id: string }) => id)).toEqual([answer.data.walletSet.id])
  })

  it('are causes of what they made, also where only the second answer arrives', async () => {
    const path = '/v1/w3s/developer/transactions/transfer'
    const wallet = await on.fundedWallet()
    await apply(
      `- { name: lost, on: request, match: { route: "POST ${path}" }, when: { times: 1 }, do: { lose: answer } }`,
    )
    const idempotencyKey = randomUUID()
    const destinationAddress = freshAddress()
    const ask = () => on.transfer(wallet, { idempotencyKey, destinationAddress })
    await expect(ask()).rejects.toThrow()
    const id = await ask()
    await on.reaches(id, 'COMPLETE')
    const { causes } = await world.call('GET', `/operator/movements/${id}/timeline`)
    expect(causes).toMatchObject([{ fault: 'lost', hit: 1, on: 'request' }])
  })

  it('are done, and answered with half of the body', async () => {
    await apply(
      '- { name: half, on: request, match: { route: "POST /v1/w3s/developer/walletSets" }, when: { times: 1 }, do: { truncate: true } }',
    )
    await expect(makeWalletSet(world, 'Half')).rejects.toThrow()
    const sets = await world.call('GET', '/v1/w3s/walletSets?pageSize=50')
    expect(sets.walletSets.map(({ name }: { name: string }) => name)).toContain('Half')
    await makeWalletSet(world, 'Whole')
  })

  it('are met in a window of business time alone, and counted also outside of it', async () => {
    const path = '/v1/w3s/walletSets'
    await apply(
      `- { name: later, on: request, match: { route: "GET ${path}" }, when: { window: [PT10M, PT1H], every: 2 }, do: { status: 503 } }`,
    )
    const statuses = async () => [(await list()).status, (await list()).status]
    const all = [await statuses()]
    for (const minutes of [11, 60]) {
      harness.clock.moveMs(minutes * 60_000)
      all.push(await statuses())
    }
    expect(all).toEqual([
      [200, 200],
      [200, 503],
      [200, 200],
    ])
    expect(await met()).toMatchObject([{ rule: 'later', match: 4, hit: 1 }])
    expect((await lab('GET', '/sandbox/faults/replay')).body.data.rules[0].when).toEqual({ at: [4] })
  })

  it('wait however long the plan says', async () => {
    await apply('- { name: long, on: request, match: { route: "GET /v1/w3s/wallets" }, do: { delay: P30D } }')
    const asked = fetch(`${harness.url}/v1/w3s/wallets`, {
      headers: { authorization: `Bearer ${harness.apiKey}` },
      signal: AbortSignal.timeout(1_000),
    })
    await expect(asked).rejects.toThrow(/timeout/)
  })

  it('are lost before anything is done', async () => {
    await apply(
      '- { name: never, on: request, match: { route: "POST /v1/w3s/developer/walletSets" }, do: { lose: request } }',
    )
    await expect(makeWalletSet(world, 'Never')).rejects.toThrow()
    const sets = await world.call('GET', '/v1/w3s/walletSets?pageSize=50')
    expect(sets.walletSets.map(({ name }: { name: string }) => name)).not.toContain('Never')
  })

  it('of one entity alone are met where the rule names it, and the control of the sandbox never is', async () => {
    const other = await harness.newEntity()
    await apply(`- { name: theirs, on: request, entityId: "${other.entityId}", do: { status: 503 } }`)
    expect([(await list()).status, (await other.http('GET', '/v1/w3s/walletSets')).status]).toEqual([
      200, 503,
    ])
    await apply('- { name: all, on: request, do: { status: 503 } }')
    expect([(await list()).status, (await lab('GET', '/sandbox/faults')).status]).toEqual([503, 200])
  })
})

describe('seeds', () => {
  const rule =
    '- { name: coin, on: request, match: { route: "GET /v1/w3s/walletSets" }, when: { chance: 0.5 }, do: { status: 503 } }'
  const run = async () => {
    const statuses: number[] = []
    for (let count = 0; count < 24; count++) statuses.push((await list()).status)
    return statuses
  }

  it('property 173: draw the same faults for the same requests, and others for another seed', async () => {
    await apply(rule, 7)
    const first = await run()
    await apply(rule, 7)
    expect(await run()).toEqual(first)
    await apply(rule, 8)
    expect(await run()).not.toEqual(first)
    expect(new Set(first)).toEqual(new Set([200, 503]))
  })

  it('property 173: are not needed to play a run again', async () => {
    await apply(rule, 7)
    const first = await run()
    const { data } = (await lab('GET', '/sandbox/faults/replay')).body
    expect(data.rules[0].when).toEqual({
      at: first.flatMap((status, index) => (status === 503 ? [index + 1] : [])),
    })
    const again = await lab('PUT', '/sandbox/faults', JSON.stringify({ ...data, seed: 99 }))
    expect(again.status).toBe(200)
    expect(await run()).toEqual(first)
  })
})

describe('webhooks', () => {
  it('are refused, lost and doubled on their way, and the attempts say so', async () => {
    const receiver = await openWebhookReceiver(harness.http)
    await apply(`- { name: refused, on: webhook, match: { endpoint: "*/refused*" }, when: { times: 2 }, do: { status: 503 } }
- { name: twice, on: webhook, match: { endpoint: "*/refused*" }, when: { times: 1 }, do: { duplicate: 1 } }`)
    const { id } = await world.call('POST', '/v2/notifications/subscriptions', {
      endpoint: `${receiver.url}/refused`,
      notificationTypes: ['transactions.outbound'],
    })
    const wallet = await on.fundedWallet()
    const transfer = await on.transfer(wallet)
    await on.reaches(transfer, 'COMPLETE')
    const told = () => receiver.webhooks().filter(({ notification }) => notification.id === transfer)
    await until(() => told().some(({ notification }) => notification.state === 'COMPLETE'), 'the end is told')
    const found = await met()
    expect(found.map(({ rule }: { rule: string }) => rule).sort()).toEqual(['refused', 'refused', 'twice'])
    const first = told().filter(({ notification }) => notification.state === told()[0]!.notification.state)
    expect(new Set(first.map(({ notificationId }) => notificationId)).size).toBe(1)
    const notifications = await world.call(
      'GET',
      `/operator/notifications?subscriptionId=${id}&resourceId=${transfer}&pageSize=50`,
    )
    const details = await Promise.all(
      notifications.map((each: { id: string }) => world.call('GET', `/operator/notifications/${each.id}`)),
    )
    const attempts = details.flatMap(({ deliveries }) =>
      deliveries.flatMap((each: { attempts: object[] }) => each.attempts),
    )
    const marks = attempts.flatMap(
      ({ status, responseHeaders = {} }: { status: number; responseHeaders?: object }) => {
        const mark = (responseHeaders as Record<string, string>)['x-bezant-fault']
        return mark ? [[status, mark]] : []
      },
    )
    expect(marks).toEqual(
      expect.arrayContaining([
        [503, 'refused#1'],
        [503, 'refused#2'],
      ]),
    )
    await receiver.close()
  })
})

describe('webhooks that the platform takes for delivered', () => {
  it('never arrive, or arrive after later ones', async () => {
    const receiver = await openWebhookReceiver(harness.http)
    await world.call('POST', '/v2/notifications/subscriptions', {
      endpoint: `${receiver.url}/mixed`,
      notificationTypes: ['transactions.outbound'],
    })
    const wallet = await on.fundedWallet()
    await apply(`- { name: lost, on: webhook, match: { endpoint: "*/mixed*" }, when: { at: [2] }, do: { drop: true } }
- { name: late, on: webhook, match: { endpoint: "*/mixed*" }, when: { at: [3] }, do: { reorder: 2 } }`)
    const transfer = await on.transfer(wallet)
    await on.reaches(transfer, 'COMPLETE')
    const told = () =>
      receiver
        .webhooks()
        .filter(({ notification }) => notification.id === transfer)
        .map(({ notification }) => notification.state)
    await until(() => told().length === 5, 'five of six states are told')
    const { states } = await world.call('GET', `/operator/movements/${transfer}/timeline`)
    const all: string[] = states.map(({ state }: { state: string }) => state)
    const order = told().map((state) => all.indexOf(state))
    const sorted = order.toSorted((one, other) => one - other)
    expect([all.length, new Set(order).size]).toEqual([6, 5])
    // One is two places later than it happened, and the others are one place earlier where they came before it.
    const late = order.filter((each, place) => place - sorted.indexOf(each) > 0)
    expect(late.map((each) => order.indexOf(each) - sorted.indexOf(each))).toEqual([2])
    expect((await met()).map(({ rule, match }: { rule: string; match: number }) => [rule, match])).toEqual([
      ['lost', 2],
      ['late', 3],
    ])
    await receiver.close()
  })
})

describe('nodes', () => {
  it('property 174: pay once, whatever becomes of the answers to what was sent', async () => {
    const wallet = await on.fundedWallet()
    await apply(`- { name: lost-sends, on: node, match: { method: eth_sendRawTransaction }, when: { every: 2 }, do: { reply: resetAfter } }
- { name: twice-known, on: node, match: { method: eth_sendRawTransaction }, when: { every: 3 }, do: { reply: internalErrorAfter } }`)
    const to = freshAddress()
    const ids = []
    for (let count = 0; count < 6; count++) ids.push(await on.transfer(wallet, { destinationAddress: to }))
    for (const id of ids) await on.reaches(id, 'COMPLETE')
    const spoiled = await met()
    expect(spoiled.length).toBeGreaterThan(0)
    const timelines = await Promise.all(
      ids.map((id) => world.call('GET', `/operator/movements/${id}/timeline`)),
    )
    const caused = new Set(
      timelines.flatMap(({ causes }) =>
        causes.map(({ fault, hit }: { fault: string; hit: number }) => `${fault}#${hit}`),
      ),
    )
    for (const { rule, hit } of spoiled) expect(caused).toContain(`${rule}#${hit}`)
    const chain = harness.chain()
    const moved = await chain.oracle.transfers({ to, token: chain.tokens.USDC })
    expect(moved.map(({ amountAtomic }) => amountAtomic)).toEqual(Array(6).fill(500_000n))
    await chain.oracle.checkNonces(wallet.address)
  })

  it('answer as of blocks ago, and are cut off for a while', async () => {
    const chain = harness.chain()
    await chain.mine(3)
    const height = async () => Number(await chain.rpc<string>('eth_blockNumber', []))
    const before = await height()
    await apply(
      '- { name: behind, on: node, match: { method: eth_blockNumber, caller: user }, do: { behindBlocks: 3 } }',
    )
    const shown = await height()
    expect(shown).toBeLessThan(before)
    await apply('- { name: out, on: node, match: { caller: user }, do: { outage: 300ms } }')
    await expect(height()).rejects.toThrow()
    await until(async () => (await height().catch(() => -1)) >= before, 'the outage is over')
  })
})

describe('plans', () => {
  const rules = '- { name: a, on: request, do: { status: 503 } }'
  const mistakes: [text: string, told: RegExp][] = [
    ['', /body is empty/],
    ['rules: [', /line 1/],
    ['7', /plan/],
    [`rules:\n${rules}`, /apiVersion is missing: send "bezant\/v1"/],
    [`apiVersion: bezant/v2\nrules:\n${rules}`, /line 1: apiVersion must be "bezant\/v1"/],
    ['apiVersion: bezant/v1', /rules is missing/],
    ['apiVersion: bezant/v1\nrules: []', /line 2: rules/],
    ['apiVersion: bezant/v1\nrules: many', /line 2: rules/],
    [plan(`${rules}\n${rules}`), /line 5: rules\[1\]\.name is the name of another rule/],
    [plan('- { name: A B, on: request, do: { status: 503 } }'), /line 4: rules\[0\]\.name/],
    [plan('- { name: a, on: requests, do: { status: 503 } }'), /rules\[0\]\.on.*did you mean request/],
    [plan('- { name: a, on: request }'), /rules\[0\]\.do is missing/],
    [plan('- { name: a, on: request, do: {} }'), /rules\[0\]\.do/],
    [
      plan('- { name: a, on: request, do: { stauts: 503 } }'),
      /rules\[0\]\.do\.stauts is not a known field: did you mean status/,
    ],
    [plan('- { name: a, on: request, do: { status: 200 } }'), /rules\[0\]\.do\.status must be at least 400/],
    [plan('- { name: a, on: webhook, do: { lose: answer } }'), /rules\[0\]\.do\.lose is not a known field/],
    [
      plan('- { name: a, on: node, do: { reply: acceptThenTimeout } }'),
      /rules\[0\]\.do\.reply.*did you mean acceptThenTimeOut/,
    ],
    [
      plan('- { name: a, on: request, when: { chance: 2 }, do: { status: 503 } }'),
      /rules\[0\]\.when\.chance must be at most 1/,
    ],
    [plan('- { name: a, on: request, do: { delay: soon } }'), /rules\[0\]\.do\.delay/],
    [plan('- { name: a, on: request, entityId: mine, do: { status: 503 } }'), /rules\[0\]\.entityId/],
    [`${plan(rules)}\nseed: 8`, /line 5/],
    [`apiVersion: bezant/v1\nrules: [&x { name: a, on: request, do: { status: 503 } }, *x]`, /aliases/],
    [plan(rules, -1), /line 2: seed/],
    [
      plan('- { name: a, on: chain, do: { reorg: { transactions: replaced } } }'),
      /line 4: rules\[0\]\.do\.reorg\.transactions must be one of .*did you mean replace\?/,
    ],
    [
      plan('- name: a\n  on: chain\n  do:\n    reorg: { dept: 1 }'),
      /line 7: rules\[0\]\.do\.reorg\.dept is not a known field: did you mean depth\?/,
    ],
    [
      plan('- name: a\n  on: chain\n  do: { reorg: { depth: 65 } }'),
      /line 6: rules\[0\]\.do\.reorg\.depth must be at most 64/,
    ],
    [
      plan('- { name: a, on: chain, do: { baseFee: {} } }'),
      /line 4: rules\[0\]\.do\.baseFee\.times is missing/,
    ],
    [
      plan('- { name: a, on: chain, match: { adress: "*" }, do: { pause: true } }'),
      /line 4: rules\[0\]\.match\.adress is not a known field: did you mean address\?/,
    ],
    [plan('- { name: a, on: chain, do: { pause: false } }'), /line 4: rules\[0\]\.do\.pause must be true/],
    [plan('- { name: a, on: chains, do: { pause: true } }'), /line 4: rules\[0\]\.on.*did you mean chain\?/],
    [
      plan('- { name: a, on: screening, do: { verdict: DENID } }'),
      /line 4: rules\[0\]\.do\.verdict must be one of .*did you mean DENIED\?/,
    ],
    [
      plan('- { name: a, on: screening, match: { amountMin: 5 }, do: { verdict: DENIED } }'),
      /line 4: rules\[0\]\.match\.amountMin is not a known field/,
    ],
    [
      plan('- { name: a, on: webhook, do: { reorder: 8 } }'),
      /line 4: rules\[0\]\.do\.reorder must be at most 7/,
    ],
    [plan('- { name: a, on: request, do: { trunkate: true } }'), /line 4: .*did you mean truncate\?/],
    [
      plan('- { name: a, on: request, when: { window: [PT10M, PT0S] }, do: { status: 503 } }'),
      /line 4: rules\[0\]\.when\.window must end after it begins/,
    ],
    [
      plan('- { name: a, on: request, when: { window: [PT10M] }, do: { status: 503 } }'),
      /line 4: rules\[0\]\.when\.window/,
    ],
    [
      plan('- { name: a, on: request, when: { window: [soon, later] }, do: { status: 503 } }'),
      /line 4: rules\[0\]\.when\.window\[0\]/,
    ],
    [`${plan(rules)}\ncolour: red`, /line 5: colour is not a known field/],
    [`apiVersion: bezant/v1\nrules:\n${`${rules}\n`.repeat(2_000)}`, /larger than/],
    [
      `${plan('- { name: a, on: request, do: { status: 200 } }\n- { name: b, on: node, do: {} }')}\ncolour: red`,
      /line 4: .*line 5: .*line 6: /,
    ],
    [plan('- { name: a, on: constructor, do: { status: 503 } }'), /rules\[0\]\.on/],
    [plan('- { name: a, on: request, do: { delay: P9999999D } }'), /line 4: rules\[0\]\.do\.delay/],
    ['['.repeat(60_000), /nest deeper than 32 levels/],
    ['{"rules":'.repeat(7_000), /nest deeper than 32 levels/],
    ['- '.repeat(30_000), /nest deeper than 32 levels/],
    ['? '.repeat(30_000), /nest deeper than 32 levels/],
  ]

  const words = (on: string, match: string) =>
    plan(`- { name: a, on: ${on}, match: ${match}, do: { delay: 1ms } }`)
  const onChain = (match: string) => plan(`- { name: a, on: chain, match: ${match}, do: { pause: true } }`)
  const unmet: [text: string, told: RegExp][] = [
    [
      words('request', '{ route: "POST /v1/payoutz" }'),
      /line 4: rules\[0\]\.match\.route is no operation of the API: did you mean POST \/v1\/payouts\?/,
    ],
    [words('request', '{ route: "/v1/payouts" }'), /did you mean (GET|POST) \/v1\/payouts\?/],
    [
      words('request', '{ route: ["GET /v1/payouts", "GET /v1/nothing/of/it"] }'),
      /match\.route\[1\] is no .*write/,
    ],
    [words('request', '{ route: "GET /operator/events/stream" }'), /match\.route is no operation/],
    [
      words('request', '{ apiKeyId: "TEST_API_KEY:1:2" }'),
      /match\.apiKeyId is no id of a key: bezant keys list/,
    ],
    [
      words('node', '{ method: eth_sendRawTransacton }'),
      /match\.method .*did you mean eth_sendRawTransaction\?/,
    ],
    [
      words('node', '{ method: sendRawTransaction }'),
      /match\.method is no method of a node: write one such as/,
    ],
    [words('node', '{ blockchain: BASE }'), /match\.blockchain .*did you mean BASE-SEPOLIA\?/],
    [
      words('node', '{ blockchain: [ARB-SEPOLIA] }'),
      /blockchain\[0\] is no chain of this sandbox, which runs BASE-SEPOLIA/,
    ],
    [words('node', '{ blockchain: [BASE-SEPOLIA, ARB-SEPOLA] }'), /match\.blockchain\[1\] is no chain/],
    [words('node', '{ caller: me }'), /match\.caller must be one of platform, user/],
    [
      words('webhook', '{ topic: paymnets }'),
      /match\.topic is no topic of a notification: did you mean payments\?/,
    ],
    [words('webhook', '{ topic: "transfer.*" }'), /match\.topic is no topic/],
    [words('webhook', '{ topic: travelRule.deny }'), /match\.topic is no topic/],
    [
      words('webhook', '{ endpoint: shop.example }'),
      /match\.endpoint is no whole address .*\*shop\.example\*/,
    ],
    [onChain('{ blockchain: "ETH*" }'), /match\.blockchain is no chain of this sandbox/],
    [onChain('{ address: "0x12" }'), /match\.address is no address on a chain/],
    [words('screening', '{ blockchain: SOL-DEVNET }'), /match\.blockchain is no chain of this sandbox/],
  ]
  mistakes.push(...unmet)

  it('may name whatever something can match, by patterns and in lists', async () => {
    const rules = [
      'on: request, match: { route: ["*", "post *", "* /v1/w3s/*", "GET /v1/payouts/{id}", "*walletSets"] }',
      `on: request, match: { apiKeyId: ["0*", "${randomUUID()}"], idempotencyKey: any }`,
      'on: node, match: { blockchain: [BASE-SEPOLIA, ARB-SEPOLIA, "*"], method: ["eth_*", debug_traceCall, eth_ownOfAProvider] }',
      'on: webhook, match: { topic: [payments, "transactions.*", "*.outbound", webhooks.test], resourceId: any }',
      'on: webhook, match: { endpoint: ["*shop.example*", "http*", "https://shop.example/hooks"] }',
      `on: screening, match: { blockchain: "*-sepolia", address: ["*00dead", "${freshAddress().toUpperCase().replace('X', 'x')}"] }`,
    ]
    await apply(rules.map((rule, place) => `- { name: r${place}, ${rule}, do: { delay: 1ms } }`).join('\n'))
  })

  it.each(mistakes)('property 179: with a mistake are refused whole: %j', async (text, told) => {
    await apply('- { name: kept, on: request, match: { route: "GET /v1/payouts" }, do: { status: 503 } }')
    const { status, body } = await lab('PUT', '/sandbox/faults', text)
    expect([status, body.message]).toEqual([400, expect.stringMatching(told)])
    const { data } = (await lab('GET', '/sandbox/faults')).body
    expect(data.plan.rules.map(({ name }: { name: string }) => name)).toEqual(['kept'])
  })

  it.each([
    ['a: &x 1\nb: *x', /has aliases/],
    [
      'name: one\nname: two\non: request\ndo: { delay: 1ms }',
      /neither YAML nor JSON: line 2: Map keys must be unique/,
    ],
    [`${JSON.stringify({ name: 'one', on: 'request', do: { delay: '1ms' } })},{}`, /neither YAML nor JSON/],
    ['['.repeat(300_000), /larger than 65536 bytes/],
    ['{"a":'.repeat(10_000), /nest deeper than 32 levels/],
  ])('do not grow by a rule with a mistake: %j', async (text, told) => {
    const { status, body } = await lab('POST', '/sandbox/faults/rules', text)
    expect([status, body.message]).toEqual([400, expect.stringMatching(told)])
    expect((await lab('GET', '/sandbox/faults')).body.data.plan).toBeUndefined()
  })

  it.each([
    ['*', true],
    ['get /v1/w3s/wallets', true],
    ['GET*sets', false],
    ['GET *w3s*wallets', true],
    ['GET /v1/w3s/w*wallets', false],
    ['*w*w*w*', false],
    [`${'*'.repeat(199)}x`, false],
    [`${'*e'.repeat(99)}*`, false],
  ])('match %j by its stars', async (route, isMet) => {
    await apply(`- { name: one, on: request, match: { route: "${route}" }, do: { status: 503 } }`)
    const { status } = await harness.http('GET', '/v1/w3s/wallets')
    expect(status).toBe(isMet ? 503 : 200)
  })

  it('grow and shrink by single rules, and come as presets', async () => {
    const added = await lab('POST', '/sandbox/faults/rules', 'name: one\non: request\ndo: { delay: 1ms }')
    expect(added.body.data.plan.rules.map(({ name }: { name: string }) => name)).toEqual(['one'])
    const twice = await lab(
      'POST',
      '/sandbox/faults/rules',
      '{"name": "one", "on": "request", "do": {"delay": "1ms"}}',
    )
    expect([twice.status, twice.body.message]).toEqual([400, expect.stringContaining('another rule')])
    const unknown = await lab('DELETE', '/sandbox/faults/rules/on')
    expect([unknown.status, unknown.body.message]).toEqual([404, expect.stringContaining('did you mean one')])
    await lab('DELETE', '/sandbox/faults/rules/one')
    expect((await lab('GET', '/sandbox/faults')).body.data.plan).toBeUndefined()
    expect((await lab('DELETE', '/sandbox/faults/rules/one')).status).toBe(404)
    expect((await lab('GET', '/sandbox/faults/replay')).status).toBe(404)
    const post = (name: string) =>
      fetch(`${harness.url}/sandbox/faults/presets/${name}`, {
        method: 'POST',
        body: '{"seed": 3}',
        headers: { 'Content-Type': 'application/json' },
      })
    for (const name of [
      'slow-network',
      'flaky-node',
      'angry-webhooks',
      'rate-limited',
      'lost-answers',
      'reorgs',
      'strict-screening',
    ]) {
      const { data } = (await (await post(name)).json()) as { data: { plan: { seed: number } } }
      expect(data.plan.seed).toBe(3)
    }
    const wrong = await post('flaky-nodes')
    expect([wrong.status, ((await wrong.json()) as { message: string }).message]).toEqual([
      400,
      expect.stringContaining('did you mean flaky-node'),
    ])
  })
})
