/** The published kits of bridging and of apps move coins between two local chains, with their hosts rewritten. */
import { AppKit } from '@circle-fin/app-kit'
import { BridgeKit } from '@circle-fin/bridge-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { kitAdapter, redirectFetch } from '#testing/platform/kits'

let harness: Harness
let restoreFetch: (() => void) | undefined
const kits = {
  'bridge-kit': new BridgeKit({ disableErrorReporting: true } as never),
  'app-kit': new AppKit(),
}
const owner = devAccounts[5]!

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['MONAD-TESTNET', 'AVAX-FUJI'] })
  restoreFetch = redirectFetch(harness.url, ['https://iris-api-sandbox.circle.com'])
})
afterAll(async () => {
  restoreFetch?.()
  await harness?.close()
})

const names = { 'MONAD-TESTNET': 'Monad_Testnet', 'AVAX-FUJI': 'Avalanche_Fuji' } as const
type Name = keyof typeof names

const usdcOf = (blockchain: Name, address: string) => {
  const chain = harness.chain(blockchain)
  return chain.oracle.balanceOf(address, chain.tokens.USDC)
}

it.each<[keyof typeof kits, string, Name, Name, 'FAST' | 'SLOW', boolean, bigint]>([
  ['bridge-kit', 'slowly', 'MONAD-TESTNET', 'AVAX-FUJI', 'SLOW', false, 0n],
  ['bridge-kit', 'slowly back', 'AVAX-FUJI', 'MONAD-TESTNET', 'SLOW', false, 0n],
  ['bridge-kit', 'fast', 'MONAD-TESTNET', 'AVAX-FUJI', 'FAST', false, 1_050n],
  ['bridge-kit', 'fast back', 'AVAX-FUJI', 'MONAD-TESTNET', 'FAST', false, 1_050n],
  ['bridge-kit', 'slowly with the forwarder', 'MONAD-TESTNET', 'AVAX-FUJI', 'SLOW', true, 200_000n],
  ['bridge-kit', 'fast with the forwarder', 'AVAX-FUJI', 'MONAD-TESTNET', 'FAST', true, 201_050n],
  ['app-kit', 'slowly', 'MONAD-TESTNET', 'AVAX-FUJI', 'SLOW', false, 0n],
  ['app-kit', 'fast back', 'AVAX-FUJI', 'MONAD-TESTNET', 'FAST', false, 1_050n],
  ['app-kit', 'slowly with the forwarder', 'AVAX-FUJI', 'MONAD-TESTNET', 'SLOW', true, 200_000n],
  ['app-kit', 'fast with the forwarder', 'MONAD-TESTNET', 'AVAX-FUJI', 'FAST', true, 201_050n],
])('%s bridges %s', async (kit, _, from, to, transferSpeed, useForwarder, fee) => {
  const adapter = kitAdapter(harness.chains, owner)
  const recipientAddress = freshAddress()
  await harness.chain(from).send(owner.address, 100_000_000n, 'USDC')
  const before = await usdcOf(from, owner.address)
  const request = {
    from: { adapter, chain: names[from] },
    to: { adapter, chain: names[to], recipientAddress, ...(useForwarder && { useForwarder }) },
    amount: '10.5',
    config: { transferSpeed },
  } as never
  const result = await kits[kit].bridge(request)
  expect([result.state, result.steps.map(({ name, state }) => `${name} ${state}`)]).toEqual([
    'success',
    expect.arrayContaining([expect.stringMatching(/burn success/i), expect.stringMatching(/mint success/i)]),
  ])
  expect(before - (await usdcOf(from, owner.address))).toBe(10_500_000n)
  expect(await usdcOf(to, recipientAddress)).toBe(10_500_000n - fee)
})

it('app-kit estimates what a fast bridge costs', async () => {
  const adapter = kitAdapter(harness.chains, owner)
  const estimate = await kits['app-kit'].estimateBridge({
    from: { adapter, chain: names['AVAX-FUJI'] },
    to: { adapter, chain: names['MONAD-TESTNET'], recipientAddress: freshAddress() },
    amount: '10.5',
    config: { transferSpeed: 'FAST' },
  } as never)
  // The fee of this server, and the tenth that kits allow beside it.
  expect(estimate.fees).toMatchObject([{ type: 'provider', token: 'USDC', amount: '0.001155' }])
})
