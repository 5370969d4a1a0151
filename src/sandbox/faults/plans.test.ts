/** Plans of faults: what is refused, what may be named, and single rules and presets. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { faultActions, faultPlan as plan } from '#testing/builders/faults'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
let faults: ReturnType<typeof faultActions>

beforeAll(async () => {
  harness = await openHarness({ lab: true })
  faults = faultActions(harness)
})
afterEach(() => faults.clear())
afterAll(() => harness?.close())

const lab = (...args: Parameters<typeof faults.lab>) => faults.lab(...args)
const apply = (...args: Parameters<typeof faults.apply>) => faults.apply(...args)

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

  it('property 179: name the line of more than twenty kinds of mistakes', () => {
    expect(mistakes.filter(([, told]) => /line \d/.test(told.source)).length).toBeGreaterThan(20)
  })

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
    ['*p*a*y*o*u*t*s*', false],
    [`${'*'.repeat(190)}payouts`, false],
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
