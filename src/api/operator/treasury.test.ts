import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeMember, signInAs } from '#testing/builders/members'
import { rebalancingsOf } from '#testing/builders/rebalancings'
import { fundMerchantWallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const unit = 1_000_000n
const policyPath = '/operator/rebalancingPolicy'

let harness: Harness
let world: World
let stranger: World
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness, await harness.newEntity())
  stranger = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

it('property 203: shows what treasuries have, owe and wait for, and a payment that waits is paid once moving is allowed', async () => {
  const own = rebalancingsOf(world)
  await fundMerchantWallet(world, 10n * unit, 'ETH')
  const { id, address } = await own.pay('4')
  const treasury = () => world.call('GET', '/operator/treasury')
  await until(async () => (await treasury()).waiting.length === 1, 'the payout waits for coins')
  const { treasuries, waiting } = await treasury()
  expect(waiting).toMatchObject([
    {
      id,
      kind: 'payout',
      amount: { amount: '4.00', currency: 'USD' },
      waitingFor: { reason: 'coins_on_other_chains', chain: 'BASE', missing: { amount: '4.00' } },
    },
  ])
  const base = treasuries.find(({ blockchain }: { blockchain: string }) => blockchain === 'BASE-SEPOLIA')
  expect(base).toMatchObject({
    address: await own.treasuryOf('BASE-SEPOLIA'),
    gas: expect.stringMatching(/plenty|low|none/),
    nativeSymbol: 'ETH-SEPOLIA',
    tokens: [
      { symbol: 'USDC', amount: '0', toSweep: '0', owed: '4' },
      { symbol: 'EURC', owed: '0' },
    ],
  })
  const source = treasuries.find(({ blockchain }: { blockchain: string }) => blockchain === 'ETH-SEPOLIA')
  expect(source.tokens[0]).toMatchObject({ symbol: 'USDC', amount: '0', toSweep: '10', owed: '0' })
  expect(await stranger.call('GET', '/operator/treasury')).toEqual({ treasuries: [], waiting: [] })

  expect(await world.call('PUT', policyPath, { allowed: true, max: '1000' })).toEqual({
    allowed: true,
    max: '1000',
    reserve: '0',
  })
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(own.base, address)).toBe(4n * unit)
  await own.allArrived()
  expect(await world.call('GET', '/operator/rebalancings')).toMatchObject([
    { status: 'complete', amount: '4', fromBlockchain: 'ETH-SEPOLIA', toBlockchain: 'BASE-SEPOLIA' },
  ])
  expect(await stranger.call('GET', '/operator/rebalancings')).toEqual([])
  const after = (await treasury()).treasuries
  const ethereum = after.find(({ blockchain }: { blockchain: string }) => blockchain === 'ETH-SEPOLIA')
  expect(ethereum).toMatchObject({ native: expect.any(String), tokens: [{ amount: '6', owed: '0' }, {}] })

  expect(await world.call('PUT', policyPath, { allowed: false })).toEqual({ allowed: false })
  const next = await own.pay('1')
  await until(async () => (await treasury()).waiting.length === 1, 'the next payout waits')
  expect((await own.payoutOf(next.id)).waitingFor.message).toContain('bezant rebalancing allow')
  expect(await own.rows()).toHaveLength(1)
})

it('property 203: a policy belongs to its entity, is set by its operators alone, and names the field that is wrong', async () => {
  const policyOf = (of: World) => of.call('GET', policyPath)
  await world.call('PUT', policyPath, { allowed: true, max: '10.5', reserve: '2' })
  expect([await policyOf(world), await policyOf(stranger)]).toEqual([
    { allowed: true, max: '10.5', reserve: '2' },
    { allowed: false },
  ])
  for (const [body, location] of [
    [{ allowed: true }, 'max'],
    [{ allowed: true, max: '0' }, 'max'],
    [{ allowed: true, max: '1,5' }, 'max'],
    [{ allowed: true, max: '1.0000001' }, 'max'],
    [{ allowed: true, max: '1', reserve: '-1' }, 'reserve'],
    [{ allowed: false, max: '1' }, 'max'],
    [{ max: '1' }, 'allowed'],
  ] as const) {
    const { status, body: answer } = await world.tenant.http('PUT', policyPath, { body })
    expect([status, answer.errors[0].location], JSON.stringify(body)).toEqual([400, location])
  }
  for (const [role, expected] of [
    ['viewer', 403],
    ['developer', 403],
    ['operator', 200],
  ] as const) {
    const { http } = await signInAs(world, await makeMember(world, role))
    const body = { allowed: true, max: '11' }
    expect((await http('PUT', policyPath, { body })).status, role).toBe(expected)
    expect((await http('GET', '/operator/treasury')).status, role).toBe(200)
  }
  const [event] = await world.call('GET', '/operator/events?type=rebalancing.allowed')
  expect(event).toMatchObject({
    actor: expect.stringMatching(/^member:/),
    data: { messageMax: '11000000', reserve: '0' },
  })
  expect(await policyOf(stranger)).toEqual({ allowed: false })
  const live = worldOf(harness, await harness.newEntity('LIVE'))
  const { http } = await signInAs(live, await makeMember(live))
  const refused = await http('PUT', policyPath, { body: { allowed: true, max: '1' } })
  expect(refused.status).toBe(403)
})
