import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tokenAddress } from '#chains/network'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { falseContents, faults, type HostileRpc, openHostileRpc } from '#testing/adversary/index'
import { deployLyingToken } from '#testing/builders/any-tokens'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import { until } from '#testing/platform/until'
import type { Chain } from '../../chain.ts'
import type { Block } from '../../facets/blocks.ts'
import { createEvmChain } from '../index.ts'

const receiver = `0x${'7e'.repeat(20)}` as const
let chain: TestChain
let nodes: HostileRpc[]
let stop: () => Promise<void>
let number: number
const opened: Chain[] = []

beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  stop = started.stop
  chain = started.chains[0]!
  const unlisted = await deployLyingToken(chain)
  await chain.setAutomine(false)
  await chain.send(receiver, 5n)
  await chain.send(receiver, 7n, 'USDC')
  await unlisted.call('forge', [receiver, receiver, 9n, 1n])
  await chain.mine()
  await chain.setAutomine(true)
  number = await chain.height()
  nodes = await Promise.all([1, 2, 3].map(() => openHostileRpc(chain.rpcUrl)))
})
afterAll(async () => {
  for (const each of opened) await each.endpoints.close()
  for (const node of nodes ?? []) await node.close()
  await stop?.()
})

beforeEach(() => {
  for (const node of nodes) node.play()
})

function open(count: number): Chain {
  const rpcUrls = nodes.slice(0, count).map(({ url }) => url)
  const input = {
    network: baseSepolia,
    rpcUrl: rpcUrls[0]!,
    rpcUrls,
    confirmations: 1,
    finalityDepth: 1,
    local: false,
  }
  const each = createEvmChain(input)
  opened.push(each)
  return each
}

/** The block that a reader gets from its first node; on a busy machine it may switch to another node midway. */
async function readFalse(honest: Block): Promise<{ reader: Chain; told: Block }> {
  let reader = open(3)
  let told = honest
  await until(async () => {
    reader = open(3)
    // A read that takes parts from two nodes fails.
    told = (await reader.blocks.byNumber(number).catch(() => undefined)) ?? honest
    return told.contentHash !== honest.contentHash
  }, 'the lie is read')
  return { reader, told }
}

const lies = falseContents(receiver, baseSepolia.tokens.map(tokenAddress))

describe.each(lies)('a node that says: $name', (fault) => {
  it('property 21: is outvoted by two others that name the same block, and is not read then', async () => {
    const honest = (await open(3).blocks.byNumber(number))!
    expect(await open(3).blocks.agreedContent(honest, honest.contentHash!)).toMatchObject({
      verdict: 'agreed',
    })
    nodes[0]!.play({ fault })
    const { reader, told } = await readFalse(honest)
    expect(told.hash).toBe(honest.hash)
    expect((await reader.blocks.agreedUpTo(number, async () => told.hash)).upTo).toBe(number)
    const { verdict, said } = await reader.blocks.agreedContent(told, told.contentHash!)
    expect([verdict, said.length]).toEqual(['outvoted', 3])
    expect(await reader.blocks.byNumber(number)).toEqual(honest)
    // With two nodes neither outvotes the other.
    expect(await open(2).blocks.agreedContent(told, told.contentHash!)).toMatchObject({
      verdict: 'open',
    })
  })
})

it('property 21: one endpoint is asked again of what another process believed', async () => {
  const one = open(1)
  expect(one.blocks.agreeing).toBe(1)
  const block = (await one.blocks.byNumber(number))!
  nodes[0]!.play({ fault: faults.error502 })
  expect(await one.blocks.agreedContent(block, block.contentHash!)).toMatchObject({ verdict: 'agreed' })
  nodes[0]!.play()
  expect(await one.blocks.agreedContent(block, `0x${'00'.repeat(32)}`)).toMatchObject({ verdict: 'outvoted' })
})
