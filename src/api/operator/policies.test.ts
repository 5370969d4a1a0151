/** Policies and freezes over HTTP: what is set decides, a dry run says so before, and a freeze holds back until it ends. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeMember, signInAs } from '#testing/builders/members'
import { freshAddress, makeTransfer, makeWallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
let usdc: string
const friend = freshAddress()

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness, await harness.newEntity())
  usdc = `BASE-SEPOLIA:${harness.chain().tokens.USDC.toLowerCase()}`
})
afterAll(() => harness?.close())

const post = (path: string, body: object) => world.tenant.http('POST', path, { body })
const rulesFor = (perTransactionAtomic: string) => ({
  mode: 'rules',
  operations: ['transfer'],
  tokens: [usdc],
  destinations: [`BASE-SEPOLIA:${friend}`],
  limits: [{ tokens: [usdc], perTransactionAtomic }],
})

it('tells beforehand what a policy refuses, sets it, and lets it decide', async () => {
  const { entityId } = world.tenant
  const kept = await makeTransfer(world, '0.01', friend)
  const wallet = await world.fundedWallet()
  const large = await makeTransfer(world, '0.05', friend)
  const other = await makeTransfer(world)
  const rules = rulesFor('20000')
  const transfer = { walletId: wallet.id, destinationAddress: friend, tokenId: world.usdcId }
  const trial = (amount: string) =>
    world.call('POST', '/operator/policies/dryRun', {
      subjectId: entityId,
      rules,
      transfer: { ...transfer, amounts: [amount] },
    })
  const [inForce] = await world.call('GET', '/operator/policies?inForce=true')
  const dry = await trial('0.03')
  expect(dry.transfer).toEqual({
    allowed: false,
    reason: 'limits[0].perTransactionAtomic is 20000, this is 30000',
    policy: { scope: 'entity', subjectId: entityId },
  })
  expect((await trial('0.02')).transfer).toEqual({ allowed: true })
  const refused = Object.fromEntries(
    dry.past.refused.map((each: { intentId: string; reason: string }) => [each.intentId, each.reason]),
  )
  expect(Object.keys(refused).sort()).toEqual([large.id, other.id].sort())
  expect(refused[large.id]).toContain('perTransactionAtomic is 20000, this is 50000')
  expect(refused[other.id]).toContain('destinations does not list')
  expect(dry.past).toMatchObject({ judged: 3, allowed: 1, unjudged: [] })
  const windows = {
    ...rules,
    limits: [{ tokens: [usdc], windows: [{ seconds: 86_400, amountAtomic: '50000' }] }],
  }
  const rolling = await world.call('POST', '/operator/policies/dryRun', {
    subjectId: wallet.id,
    rules: windows,
  })
  expect(rolling.past.refused.map((each: { intentId: string }) => each.intentId).sort()).toEqual(
    [large.id, other.id].sort(),
  )
  expect(await world.call('GET', '/operator/policies?inForce=true')).toEqual([inForce])

  const stale = await post('/operator/policies', { subjectId: entityId, rules, replacesVersion: 7 })
  expect([stale.status, stale.body.code]).toEqual([409, 409])
  const set = await post('/operator/policies', {
    subjectId: entityId,
    rules,
    replacesVersion: inForce.version,
  })
  expect(set.status, set.text).toBe(201)
  expect(set.body.data).toMatchObject({ version: inForce.version + 1, inForce: true, rules })
  expect(await world.call('GET', `/operator/policies/${set.body.data.id}`)).toEqual(set.body.data)
  const [event] = await world.call('GET', '/operator/events?type=policy.set')
  expect(event.actor).toMatch(/^key:/)
  expect(event.requestId).toBe(set.headers.get('x-request-id'))
  await expect(makeTransfer(world, '0.03', friend)).rejects.toThrow('perTransactionAtomic is 20000')
  await makeTransfer(world, '0.02', friend)
  expect(kept.id).not.toBe(large.id)
})

const full = (digit: string) => `0x${digit.padStart(64, '0')}`

/** Entries in a form that no effect has, which would allow or limit nothing. */
const misnamed = (rules: ReturnType<typeof rulesFor>): [object, string][] => [
  [{ ...rules, destinations: [`APTOS-TESTNET:${full('1')}`] }, 'rules.destinations[0]'],
  [{ ...rules, destinations: [`APTOS-TESTNET:0x${'7'.repeat(63)}`] }, 'rules.destinations[0]'],
  [{ ...rules, destinations: ['APTOS-TESTNET:0x01'] }, 'rules.destinations[0]'],
  [
    { ...rules, contracts: [{ contract: `APTOS:${full('1')}`, selectors: 'any' }] },
    'rules.contracts[0].contract',
  ],
  ...['APTOS-TESTNET:0xa', `APTOS-TESTNET:${full('A')}`, `BASE-SEPOLIA:0x${'0'.repeat(40)}`].flatMap(
    (token): [object, string][] => [
      [{ ...rules, tokens: [token], limits: [] }, 'rules.tokens[0]'],
      [
        { ...rules, tokens: 'any', limits: [{ tokens: [token], perTransactionAtomic: '1' }] },
        'rules.limits[0].tokens[0]',
      ],
    ],
  ),
]

it('property 232: an entry names an account of Aptos in its canonical form, and is told it otherwise', async () => {
  const { entityId } = world.tenant
  const trial = (rules: object) => post('/operator/policies/dryRun', { subjectId: entityId, rules })
  const rules = rulesFor('1')
  const upper = `APTOS-TESTNET:0x${'AB'.repeat(32)}`
  const contracts = [{ contract: 'APTOS-TESTNET:0x1', selectors: 'any' }]
  expect((await trial({ ...rules, destinations: [upper, 'APTOS:0xF'], contracts })).status).toBe(200)
  const padded = await trial({ ...rules, destinations: [`APTOS:${full('1')}`] })
  expect(padded.body.errors[0].message).toContain('is written APTOS:0x1')
  const native = await trial({ ...rules, tokens: ['APTOS:0xa'], limits: [] })
  expect(native.body.errors[0].message).toContain('write the native coin APTOS:native')
})

it('property 199: a wrong document is refused by the path of its member, and changes nothing', async () => {
  const rules = rulesFor('1')
  const wrong: [object, string][] = [
    [{}, 'rules.mode'],
    [{ mode: 'all' }, 'rules.mode'],
    [{ mode: 'permissive', tokens: [] }, 'rules.tokens'],
    [{ ...rules, limit: [] }, 'rules.limit'],
    [{ ...rules, operations: ['transfers'] }, 'rules.operations[0]'],
    [{ ...rules, tokens: ['USDC'], limits: [] }, 'rules.tokens[0]'],
    [{ ...rules, tokens: ['BSAE:native'], limits: [] }, 'rules.tokens[0]'],
    [{ ...rules, tokens: ['SOL:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'], limits: [] }, 'rules.tokens[0]'],
    ...misnamed(rules),
    ...[
      '*:0x3600000000000000000000000000000000000000',
      'eip155:84532:native',
      `eip155:5042:0x36${'0'.repeat(38)}`,
    ].flatMap((token): [object, string][] => [
      [{ ...rules, tokens: [token], limits: [] }, 'rules.tokens[0]'],
      [
        { ...rules, tokens: 'any', limits: [{ tokens: [token], perTransactionAtomic: '1' }] },
        'rules.limits[0].tokens[0]',
      ],
    ]),
    [{ ...rules, destinations: [`eip155:1:0x${'1'.repeat(40)}`] }, 'rules.destinations[0]'],
    [{ ...rules, destinations: [`SOL:${'1'.repeat(40)}`] }, 'rules.destinations[0]'],
    [{ ...rules, destinations: ['NEAR:Bob.near'] }, 'rules.destinations[0]'],
    [
      { ...rules, contracts: [{ contract: 'NEAR:usdc.near', selectors: ['f()'] }] },
      'rules.contracts[0].selectors[0]',
    ],
    [
      { ...rules, destinations: ['BASE:0x70997970c51812Dc3a010c7d01b50e0d17dc79c8'] },
      'rules.destinations[0]',
    ],
    [
      { ...rules, contracts: [{ contract: usdc, selectors: ['f(uint)'] }] },
      'rules.contracts[0].selectors[0]',
    ],
    [{ ...rules, limits: [{ tokens: [usdc] }] }, 'rules.limits[0]'],
    [
      { ...rules, limits: [{ tokens: ['*:native'], perTransactionAtomic: '1' }] },
      'rules.limits[0].tokens[0]',
    ],
    [
      { ...rules, limits: [{ tokens: [usdc], windows: [{ seconds: 0, amountAtomic: '1.5' }] }] },
      'rules.limits[0].windows[0].seconds',
    ],
  ]
  const before = await world.call('GET', '/operator/policies')
  for (const path of ['', '/dryRun'])
    for (const [document, location] of wrong) {
      const { status, body } = await post(`/operator/policies${path}`, {
        subjectId: world.tenant.entityId,
        rules: document,
      })
      expect([status, body.errors[0].location, body.message]).toEqual([
        400,
        location,
        expect.stringContaining(location),
      ])
    }
  expect(await world.call('GET', '/operator/policies')).toEqual(before)
})

it('property 200: a freeze is made once, holds back what is asked for, and ends', async () => {
  const { entityId } = world.tenant
  await post('/operator/policies', { rules: { mode: 'permissive' } })
  const wallet = await world.fundedWallet()
  for (const subjectId of [wallet.id, entityId]) {
    const first = await post('/operator/freezes', { subjectId })
    const again = await post('/operator/freezes', { subjectId })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.data).toEqual(first.body.data)
    expect(await world.call('GET', '/operator/freezes')).toEqual([first.body.data])
    for (const scope of ['entity', 'wallet'])
      expect(await world.call('GET', `/operator/freezes?scope=${scope}`)).toEqual(
        scope === first.body.data.scope ? [first.body.data] : [],
      )
    const { needs } = await world.call('GET', '/operator/overview')
    expect(needs.filter(({ kind }: { kind: string }) => kind === 'frozen')).toHaveLength(1)
    await expect(makeTransfer(world)).rejects.toThrow('frozen')
    for (const _ of [1, 2])
      expect((await world.tenant.http('DELETE', `/operator/freezes/${subjectId}`)).status).toBe(204)
    expect(await world.call('GET', '/operator/freezes')).toEqual([])
    const { id } = await makeTransfer(world)
    const stateOf = async () => (await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state
    await until(async () => (await stateOf()) === 'COMPLETE', 'the transfer is mined')
    const events = await world.call('GET', `/operator/events?resourceId=${subjectId}&pageSize=50`)
    const frozen = events.filter(({ type }: { type: string }) => type.endsWith('frozen'))
    expect(frozen).toHaveLength(2)
  }
})

it('belongs to operators of the entity alone', async () => {
  const stranger = worldOf(harness, await harness.newEntity())
  const wallet = await makeWallet(stranger)
  const [policy] = await stranger.call('GET', '/operator/policies')
  const rules = { mode: 'permissive' }
  for (const subjectId of [wallet.id, stranger.tenant.entityId, randomUUID()]) {
    const statuses = [
      await post('/operator/policies', { subjectId, rules }),
      await post('/operator/policies/dryRun', { subjectId, rules }),
      await post('/operator/freezes', { subjectId }),
      await world.tenant.http('DELETE', `/operator/freezes/${subjectId}`),
    ].map(({ status }) => status)
    expect(statuses).toEqual([404, 404, 404, 404])
  }
  expect((await world.tenant.http('GET', `/operator/policies/${policy.id}`)).status).toBe(404)
  const { http } = await signInAs(world, await makeMember(world, 'viewer'))
  const own = { subjectId: world.tenant.entityId }
  for (const [path, body] of [
    ['/operator/policies', { ...own, rules }],
    ['/operator/freezes', own],
  ] as const)
    expect((await http('POST', path, { body })).status).toBe(403)
})
