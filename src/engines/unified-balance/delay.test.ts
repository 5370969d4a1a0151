/** The delay of withdrawals keeps a depositor from taking coins that are minted elsewhere: no single endpoint may shorten it. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { unifiedBalances, wallet } from '#testing/builders/unified-balances'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { type Harness, openHarness } from '#testing/platform/harness'
import { unifiedChains } from './networks.ts'

let harness: Harness
const nodes: LyingNode[] = []
beforeAll(async () => {
  harness = await openHarness({
    node: async ({ rpcUrl }) => {
      for (let index = 0; index < 3; index++) nodes.push(await openLyingNode(rpcUrl))
      const rpcUrls = nodes.map(({ url }) => url)
      return { rpcUrl: rpcUrls[0]!, rpcUrls, local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
    },
  })
})
afterEach(() => {
  for (const node of nodes) node.lie(undefined)
})
afterAll(async () => {
  await harness?.close()
  for (const node of nodes) await node.close()
})

it.each([0, 1, 2])(
  'property 106: endpoint %i alone does not shorten the delay of withdrawals',
  async (liar) => {
    const [chain] = unifiedChains(harness.ctx)
    const told = await unifiedBalances(harness).read(harness.chain(), wallet, 'withdrawalDelay', [])
    expect(told).toBeGreaterThan(0n)
    expect(await chain!.crosschain.withdrawalDelay()).toBe(told)
    nodes[liar]!.lie((method, result, [call]) =>
      method === 'eth_call' && call.to === chain!.wallet ? `0x${'0'.repeat(64)}` : result,
    )
    for (let count = 0; count < 20; count++)
      expect([told, undefined]).toContain(await chain!.crosschain.withdrawalDelay().catch(() => undefined))
  },
)
