import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'LINEA-SEPOLIA'], engines: false })
})
afterAll(() => harness?.close())

const supply = async (blockchain: string) => {
  const chain = harness.chain(blockchain)
  return BigInt(
    await chain.rpc<string>('eth_call', [{ to: chain.tokens.USDC, data: '0x18160ddd' }, 'latest']),
  )
}
const shown = (atomic: bigint) =>
  `${atomic / 1_000_000n}.${String(atomic % 1_000_000n)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')}`

it('returns the supply on the chains without a key, and refreshes it after a minute', async () => {
  const ask = async () => (await new Circle('', harness.url).stablecoins.listStablecoins()).data.data!
  const amounts = [await supply('BASE-SEPOLIA'), await supply('LINEA-SEPOLIA')] as [bigint, bigint]
  const now = expect.stringMatching(/^\d{4}-.*Z$/)
  const [usdc, eurc] = await ask()
  expect(usdc).toEqual({
    name: 'USD Coin',
    symbol: 'USDC',
    totalAmount: shown(amounts[0] + amounts[1]),
    chains: [
      { amount: shown(amounts[0]), chain: 'BASE', updateDate: now },
      { amount: shown(amounts[1]), chain: 'LINEA', updateDate: now },
    ],
  })
  expect([eurc!.symbol, eurc!.chains!.length]).toEqual(['EURC', 2])
  await harness.http('POST', '/v1/faucet/drips', {
    body: { address: freshAddress(), blockchain: 'BASE-SEPOLIA', usdc: true },
  })
  await harness.chain().mine(1)
  harness.clock.moveMs(60_000)
  expect((await ask())[0]!.totalAmount).toBe(shown(amounts[0] + amounts[1] + 20_000_000n))
})
