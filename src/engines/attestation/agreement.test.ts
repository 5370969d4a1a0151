/** Before finality a burn is attested when enough endpoints show the contents of its block, and not when one alone does. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { confirmedThreshold } from '#chains/crosschain/message'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { type CrosschainMessages, crosschainMessages } from '#testing/builders/burns'
import { followedMining } from '#testing/nodes/followed-mining'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'

let harness: Harness
let messages: CrosschainMessages
const nodes: LyingNode[] = []
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'],
    node: async ({ blockchain, rpcUrl }) => {
      if (blockchain !== 'BASE-SEPOLIA') return {}
      for (let index = 0; index < 3; index++) nodes.push(await openLyingNode(rpcUrl))
      const rpcUrls = nodes.map(({ url }) => url)
      return { rpcUrl: rpcUrls[0]!, rpcUrls, local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
    },
  })
  messages = crosschainMessages(harness)
})
afterAll(async () => {
  await harness?.close()
  for (const node of nodes) await node.close()
})

const receiptMethods = ['eth_getBlockReceipts', 'eth_getTransactionReceipt']

/** Every endpoint shows other receipts, all under the hash on which they agree. */
function disagree(): void {
  for (const [index, node] of nodes.entries())
    node.lie((method, result) => {
      if (!receiptMethods.includes(method)) return result
      const bent = (receipt: { gasUsed: string }) => ({
        ...receipt,
        gasUsed: `0x${(Number(receipt.gasUsed) + index).toString(16)}`,
      })
      return Array.isArray(result) ? result.map(bent) : bent(result)
    })
}

const receiptCalls = () =>
  nodes.map(({ callCounts }) => receiptMethods.reduce((sum, name) => sum + (callCounts.get(name) ?? 0), 0))

it('property 100: a fast burn waits while endpoints show different contents of its block', async () => {
  const base = harness.chain('BASE-SEPOLIA')
  const avalanche = harness.chain('AVAX-FUJI')
  const burnIt = await messages.prepareBurn(base, avalanche, {
    maxFee: 1_000n,
    threshold: confirmedThreshold,
  })
  disagree()
  const hash = await burnIt()
  await messages.messageWhen(base, hash, ({ status }) => status === 'pending_confirmations')
  // Each block is followed before the next one: the burn would be final 64 blocks later.
  for (let round = 0; round < 3; round++) {
    const before = receiptCalls()
    await base.mine()
    const isAsked = () => receiptCalls().every((count, index) => count > before[index]!)
    await until(isAsked, 'all endpoints are asked again')
  }
  expect((await messages.find(base, hash)).body.messages[0]).toMatchObject({
    attestation: 'PENDING',
    delayReason: null,
  })
  for (const node of nodes) node.lie(undefined)
  await mineUntil(
    followedMining(harness, base, 1),
    async () => (await messages.find(base, hash)).body.messages[0].status === 'complete',
    'the burn is attested',
  )
  const message = await messages.attested(base, hash)
  expect(message.decodedMessage.finalityThresholdExecuted).toBe('1000')
  expect((await messages.deliver(avalanche, message)).ok).toBe(true)
})
