/** The published bridge kit moves coins between two local chains, with its hosts rewritten. */
import { BridgeKit } from '@circle-fin/bridge-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { kitAdapter, redirectFetch } from '#testing/platform/kits'

let harness: Harness
let restoreFetch: (() => void) | undefined
const kit = new BridgeKit({ disableErrorReporting: true } as never)
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

it.each<[string, Name, Name, 'FAST' | 'SLOW', boolean, bigint]>([
  ['slowly', 'MONAD-TESTNET', 'AVAX-FUJI', 'SLOW', false, 0n],
  ['slowly back', 'AVAX-FUJI', 'MONAD-TESTNET', 'SLOW', false, 0n],
  ['fast', 'MONAD-TESTNET', 'AVAX-FUJI', 'FAST', false, 1_050n],
  ['fast back', 'AVAX-FUJI', 'MONAD-TESTNET', 'FAST', false, 1_050n],
  ['slowly with the forwarder', 'MONAD-TESTNET', 'AVAX-FUJI', 'SLOW', true, 200_000n],
  ['fast with the forwarder', 'AVAX-FUJI', 'MONAD-TESTNET', 'FAST', true, 201_050n],
])('bridges %s', async (_, from, to, transferSpeed, useForwarder, fee) => {
  const adapter = kitAdapter(harness.chains, owner)
  const recipientAddress = freshAddress()
  await harness.chain(from).send(owner.address, 100_000_000n, 'USDC')
  const before = await usdcOf(from, owner.address)
  const result = await kit.bridge({
    from: { adapter, chain: names[from] },
    to: { adapter, chain: names[to], recipientAddress, ...(useForwarder && { useForwarder }) },
    amount: '10.5',
    config: { transferSpeed },
  } as never)
  expect([result.state, result.steps.map(({ name, state }) => `${name} ${state}`)]).toEqual([
    'success',
    expect.arrayContaining([expect.stringMatching(/burn success/i), expect.stringMatching(/mint success/i)]),
  ])
  expect(before - (await usdcOf(from, owner.address))).toBe(10_500_000n)
  expect(await usdcOf(to, recipientAddress)).toBe(10_500_000n - fee)
})
