import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decide, type RuleMatch, rules } from '#engines/compliance/rules'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { HttpAnswer } from '#testing/platform/tenant'

const path = '/v1/w3s/compliance/screening/addresses'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ blockchains: [], engines: false })
})
afterAll(() => harness?.close())

const screen = (address: string, chain = 'ETH-SEPOLIA', more: object = {}) =>
  harness.http('POST', path, { body: { idempotencyKey: randomUUID(), address, chain, ...more } })

let count = 0
/** An address that no other test uses, with these last digits. */
const endingIn = (suffix: string) => `0x${`ab${++count}`.padEnd(40 - suffix.length, '0')}${suffix}`

const denying = ['DENY', 'REVIEW', 'FREEZE_WALLET']
const documented: [suffix: string, ruleName: string, actions: string[], score: string, category: string][] = [
  ['9999', "Circle's Sanctions Blocklist", denying, 'BLOCKLIST', 'SANCTIONS'],
  ['8888', 'Frozen User Wallet', ['DENY', 'REVIEW'], 'BLOCKLIST', 'FROZEN'],
  ['7777', 'Your blocklist', ['REVIEW', 'DENY'], 'BLOCKLIST', 'UNSUPPORTED'],
  ['8999', 'Severe Sanctions Risk (Owner)', denying, 'SEVERE', 'SANCTIONS'],
  ['8899', 'Severe Terrorist Financing Risk (Owner)', denying, 'SEVERE', 'TERRORIST_FINANCING'],
  ['8889', 'Severe CSAM Risk (Owner)', denying, 'SEVERE', 'CSAM'],
  ['7779', 'Severe Illicit Behavior Risk (Owner)', denying, 'SEVERE', 'ILLICIT_BEHAVIOR'],
  ['7666', 'High Illicit Behavior Risk (Owner)', ['REVIEW'], 'HIGH', 'ILLICIT_BEHAVIOR'],
  ['7766', 'High Gambling Risk (Owner)', ['REVIEW'], 'HIGH', 'GAMBLING'],
]

describe('a documented address of a test network', () => {
  it.each(documented)('99999999%s triggers %s', async (suffix, ruleName, actions, riskScore, category) => {
    const address = endingIn(`99999999${suffix}`)
    const { status, body } = await screen(address)
    const reason = { source: 'ADDRESS', sourceValue: address, riskScore, riskCategories: [category] }
    expect([status, body]).toMatchObject([
      200,
      {
        result: actions.includes('DENY') ? 'DENIED' : 'APPROVED',
        decision: { ruleName, actions, reasons: [{ ...reason, type: 'OWNERSHIP', signalSource: null }] },
        address,
        chain: 'ETH-SEPOLIA',
      },
    ])
    expect(await screen(address, 'ETH')).toMatchObject({ body: { result: 'APPROVED' } })
    expect((await screen(endingIn(`1${suffix}`))).body.decision).not.toHaveProperty('ruleName')
  })

  it.each(documented)(
    '%s has the same actions without DENY for value that arrives',
    (suffix, name, actions) => {
      const matches: RuleMatch[] = rules
        .filter(({ testSuffix }) => testSuffix === suffix)
        .map((rule) => ({ rule, sourceValue: 'x' }))
      const { ruleName, actions: inbound } = decide(matches, 'inbound')
      expect([ruleName, inbound]).toEqual([name, actions.filter((action) => action !== 'DENY')])
    },
  )

  it('is matched by 4 characters, or not at all, where the server is set so', async () => {
    const address = endingIn('18999')
    const { config } = harness.ctx
    config.testSuffixLength = 4
    const short = await screen(address)
    config.testSuffixLength = 0
    const none = await screen(endingIn('999999999999'))
    config.testSuffixLength = 12
    expect([short.body.result, none.body.result]).toEqual(['DENIED', 'APPROVED'])
  })

  it('is matched in the form of its chain', async () => {
    const answer = await screen(`A${'v'.repeat(30)}999999998889`, 'SOL-DEVNET')
    expect(answer.body).toMatchObject({
      result: 'DENIED',
      decision: { ruleName: 'Severe CSAM Risk (Owner)' },
    })
  })
})

it('ranks every rule that denies before those that only ask for a review', () => {
  const denies = rules.map(({ actions }) => actions.includes('DENY'))
  expect(denies.lastIndexOf(true)).toBeLessThan(
    rules.findIndex(({ actions }) => actions.includes('REVIEW') && !actions.includes('DENY')),
  )
  const all = rules.map((rule) => ({ rule, sourceValue: 'x' })).reverse()
  expect(decide(all, 'outbound')).toMatchObject({ ruleName: 'Sanctions Blocklist', actions: denying })
  expect(decide(all, 'outbound').reasons).toHaveLength(rules.length)
})

it('approves an address that no rule applies to, with and without the prefix of the path', async () => {
  const address = endingIn('0')
  const body = { idempotencyKey: randomUUID(), address, chain: 'UNI-SEPOLIA' }
  const first = await harness.http('POST', path, { body })
  const screening = {
    result: 'APPROVED',
    decision: { actions: ['APPROVE'], screeningDate: expect.any(String) },
    id: body.idempotencyKey,
    address,
    chain: 'UNI-SEPOLIA',
    details: [
      {
        id: body.idempotencyKey,
        vendor: 'BEZANT',
        response: { lists: {}, matched: [] },
        createDate: expect.any(String),
      },
    ],
  }
  expect([first.status, first.body]).toEqual([200, { ...screening, data: screening }])
  const again = await harness.http('POST', '/compliance/screening/addresses', { body })
  expect([again.status, again.body]).toEqual([200, first.body])
})

/** How public applications read the answer; a field that is missing means that nothing was found. */
const readings: [reading: string, isDenied: (answer: HttpAnswer['body']) => boolean][] = [
  ['result', (answer) => answer.result === 'DENIED'],
  ['data.result', ({ data }) => (data?.result ?? 'PASS') === 'DENIED'],
  ['the actions of decision', (answer) => answer.decision.actions.includes('DENY')],
  ['the actions of data.decision', ({ data }) => data?.decision?.actions?.includes('DENY') ?? false],
]

it.each(readings)(
  'property 160: shows who is denied to an application that reads %s, also when asked again',
  async (_, isDenied) => {
    const body = { idempotencyKey: randomUUID(), address: endingIn('999999999999'), chain: 'ETH-SEPOLIA' }
    const first = await harness.http('POST', path, { body })
    const again = await harness.http('POST', path, { body })
    const clean = await screen(endingIn('0'))
    expect([first, again, clean].map((answer) => isDenied(answer.body))).toEqual([true, true, false])
  },
)

it.each([
  ['an unknown chain', { chain: 'DOGE' }, 280001, 'chain'],
  ['an address of another family', { chain: 'TRX' }, 280002, 'address'],
  ['a bad checksum', { address: '0x036cBD53842c5426634e7929541eC2318f3dCF7e' }, 280002, 'address'],
  ['a key that is no UUID', { idempotencyKey: 'mine' }, 2, 'idempotencyKey'],
  ['two mistakes', { idempotencyKey: 'mine', chain: 'DOGE' }, 2, 'idempotencyKey'],
  ['an address that is no text', { address: 5 }, 2, 'address'],
])('refuses %s and names the field', async (_, wrong, code, location) => {
  const { status, body } = await screen(endingIn('1'), 'ETH', wrong)
  expect([status, body.code]).toEqual([400, code])
  expect(body.errors.map((error: { location: string }) => error.location)).toContain(location)
})

it('lists the screenings of the entity for its operator, by result, chain and address in any spelling', async () => {
  const tenant = await harness.newEntity()
  const address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  const requests = [
    { address, chain: 'ETH-SEPOLIA' },
    { address: endingIn('999999999999'), chain: 'AVAX-FUJI' },
  ]
  for (const request of requests) {
    harness.clock.moveMs(1_000)
    await tenant.http('POST', path, { body: { idempotencyKey: randomUUID(), ...request } })
  }
  const list = async (query: Record<string, string>) =>
    (await tenant.http('GET', '/operator/screenings', { query })).body.data?.map(
      ({ chain }: { chain: string }) => chain,
    )
  expect(await list({})).toEqual(['AVAX-FUJI', 'ETH-SEPOLIA'])
  expect(await list({ result: 'DENIED' })).toEqual(['AVAX-FUJI'])
  expect(await list({ chain: 'ETH-SEPOLIA', address: address.toLowerCase() })).toEqual(['ETH-SEPOLIA'])
  expect(await list({ result: 'DENIED', chain: 'ETH-SEPOLIA' })).toEqual([])
  const alone = await tenant.http('GET', '/operator/screenings', { query: { address } })
  expect([alone.status, alone.body.errors[0].location]).toEqual([400, 'chain'])
})
