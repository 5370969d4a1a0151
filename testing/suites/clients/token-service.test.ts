/** The published kits move EURC between two local chains by the token service. Only their hosts are rewritten. */
import { AppKit } from '@circle-fin/app-kit'
import { BridgeKit } from '@circle-fin/bridge-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { kitAdapter, redirectFetch } from '#testing/platform/kits'
import { mineUntil } from '#testing/platform/until'

let harness: Harness
let restoreFetch: (() => void) | undefined
let bridgeKit: BridgeKit
const owner = devAccounts[6]!

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'] })
  restoreFetch = redirectFetch(harness.url, ['https://iris-api-sandbox.circle.com'])
  // It keeps the function that it asks with.
  bridgeKit = new BridgeKit({ disableErrorReporting: true } as never)
})
afterAll(async () => {
  restoreFetch?.()
  await harness?.close()
})

const names = { 'BASE-SEPOLIA': 'Base_Sepolia', 'AVAX-FUJI': 'Avalanche_Fuji' } as const
type Name = keyof typeof names

const balances = (blockchain: Name, address: string) => {
  const chain = harness.chain(blockchain)
  return Promise.all(
    [chain.tokens.EURC, chain.tokens.USDC].map((token) => chain.oracle.balanceOf(address, token)),
  )
}

it.each<[Name, Name, 'FAST' | 'SLOW']>([
  ['BASE-SEPOLIA', 'AVAX-FUJI', 'FAST'],
  ['AVAX-FUJI', 'BASE-SEPOLIA', 'SLOW'],
])('property 274: the bridge kit moves EURC from %s to %s, %s', async (from, to, transferSpeed) => {
  const adapter = kitAdapter(harness.chains, owner)
  const recipientAddress = freshAddress()
  await harness.chain(from).send(owner.address, 100_000_000n, 'EURC')
  const before = await balances(from, owner.address)
  const result = await bridgeKit.bridge({
    from: { adapter, chain: names[from] },
    to: { adapter, chain: names[to], recipientAddress },
    amount: '10.5',
    token: 'EURC',
    config: { transferSpeed },
  } as never)
  expect([result.state, result.steps.map(({ name, state }) => `${name} ${state}`)]).toEqual([
    'success',
    ['approve success', 'transfer success', 'fetchAttestation success', 'forward success'],
  ])
  const after = await balances(from, owner.address)
  expect(before.map((had, index) => had - after[index]!)).toEqual([10_500_000n, 0n])
  expect(await balances(to, recipientAddress)).toEqual([10_500_000n, 0n])
})

it('a kit estimates the fees of EURC in the native coin, and bridges by that quote', async () => {
  const adapter = kitAdapter(harness.chains, owner)
  const recipientAddress = freshAddress()
  const request = {
    from: { adapter, chain: 'Base_Sepolia' },
    to: { adapter, chain: 'Avalanche_Fuji', recipientAddress },
    amount: '10.5',
    token: 'EURC',
    config: { transferSpeed: 'FAST' },
  }
  await harness.chain('BASE-SEPOLIA').send(owner.address, 100_000_000n, 'EURC')
  const estimate = await bridgeKit.estimate(request as never)
  expect(estimate.fees).toMatchObject([{ token: 'ETH', amount: '0.00004021' }])
  const result = await bridgeKit.bridge({ ...request, quote: estimate.quote } as never)
  expect([result.state, result.warnings ?? []]).toEqual(['success', []])
  expect(await balances('AVAX-FUJI', recipientAddress)).toEqual([10_500_000n, 0n])
})

it('app-kit sends coins to another account of the same chain', async () => {
  const adapter = kitAdapter(harness.chains, owner)
  const to = freshAddress()
  const base = harness.chain('BASE-SEPOLIA')
  for (const coin of ['EURC', 'USDC'] as const) await base.send(owner.address, 100_000_000n, coin)
  const kit = new AppKit()
  for (const token of [base.tokens.EURC, 'USDC', 'NATIVE']) {
    let state: string | undefined
    const from = { adapter, chain: 'Base_Sepolia' }
    const sending = kit.send({ from, to, amount: '1.5', token } as never).then((sent) => {
      state = sent.state
    })
    // It waits for a second block, and a local chain that nothing happens on makes none.
    await Promise.all([sending, mineUntil(base, async () => state !== undefined, 'the coins are sent')])
    expect([token, state]).toEqual([token, 'success'])
  }
  expect(await balances('BASE-SEPOLIA', to)).toEqual([1_500_000n, 1_500_000n])
  expect(await base.oracle.balanceOf(to)).toBe(1_500_000_000_000_000_000n)
})
