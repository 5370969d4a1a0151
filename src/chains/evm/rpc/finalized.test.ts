import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { type LyingNode, openLyingNode } from '#testing/nodes/lying-node'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { quantity } from '#testing/platform/json-rpc'
import { createEvmChain } from '../index.ts'

let chain: TestChain
let nodes: LyingNode[]
let stop: () => Promise<void>

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  stop = started.stop
  chain = started.chains[0]!
  await chain.mine(40)
  nodes = await Promise.all([1, 2, 3].map(() => openLyingNode(chain.rpcUrl)))
})
afterAll(async () => {
  for (const node of nodes) await node.close()
  await stop()
})

type Tags = { finalized: number; safe?: number } | null

/** The finalized block of a chain whose nodes report these blocks; `null` is a node without the tags. */
async function finalizedOf(...tags: Tags[]) {
  for (const [index, told] of tags.entries())
    nodes[index]!.lie((method, result, [key]) => {
      if (method !== 'eth_getBlockByNumber' || (key !== 'finalized' && key !== 'safe')) return result
      if (told === null) return null
      const number = key === 'safe' ? (told.safe ?? told.finalized) : told.finalized
      return chain.rpc(method, [quantity(number), false])
    })
  const urls = tags.map((_, index) => nodes[index]!.url)
  const depths = { confirmations: 1, finalityDepth: 1 }
  const read = createEvmChain({
    network: baseSepolia,
    rpcUrl: urls[0]!,
    rpcUrls: urls,
    ...depths,
    local: false,
  })
  try {
    const finalized = await read.blocks.finalized()
    return typeof finalized === 'object' ? finalized.number : finalized
  } finally {
    await read.endpoints.close()
  }
}

it.each<[string, Tags[], number | string]>([
  ['one node', [{ finalized: 7 }], 7],
  ['as high as more than half of them say', [{ finalized: 10 }, { finalized: 30 }, { finalized: 20 }], 20],
  ['a liar among three', [{ finalized: 10 }, { finalized: 40 }, { finalized: 10 }], 10],
  ['two of three without the tag', [{ finalized: 10 }, null, null], 'unknown'],
  ['nodes without the tag', [null, null], 'no tag'],
  ['a node that finalizes more than it calls safe', [{ finalized: 30, safe: 20 }], 'unknown'],
])('property 20: what is finalized needs agreement: %s', async (_, tags, expected) => {
  expect(await finalizedOf(...tags)).toBe(expected)
})

it('property 20: a local chain has no block that cannot be taken back', async () => {
  const depths = { confirmations: 1, finalityDepth: 1 }
  const local = createEvmChain({ network: baseSepolia, rpcUrl: chain.rpcUrl, ...depths, local: true })
  expect(await local.blocks.finalized()).toBe('no tag')
  await local.endpoints.close()
})
