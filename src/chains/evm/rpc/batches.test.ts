import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faults, type HostileRpc, listLimits, openHostileRpc } from '#testing/adversary/index'
import { startTestChains } from '#testing/platform/chain'
import { createRpc, NodeUnreachable, type Rpc } from './rpc.ts'

let node: HostileRpc
let stop: () => Promise<void>
const opened: Rpc[] = []

beforeAll(async () => {
  const { chains, stop: stopChains } = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  stop = stopChains
  node = await openHostileRpc(chains[0]!.rpcUrl)
})
afterAll(async () => {
  for (const rpc of opened) rpc.close()
  await node?.close()
  await stop?.()
})

function open(batchMax?: number): Rpc {
  const rpc = createRpc(node.url, { batchMax })
  opened.push(rpc)
  return rpc
}

/** Makes `count` calls, each with a different answer. */
const asking = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    method: 'web3_sha3',
    params: [`0x${index.toString(16).padStart(4, '0')}`],
  }))

const honest = async (count: number) => {
  node.play()
  return open().batch(asking(count))
}

describe.each([4, 1, 0])('a provider that takes lists of %i calls', (most) => {
  it.each(listLimits(most).map(({ name }, index) => ({ name, index })))(
    'property 63: gets every call all the same, and is not asked for more again: $name',
    async ({ index }) => {
      const expected = await honest(21)
      const refused: number[] = []
      const rpc = open()
      node.play({ fault: listLimits(most, refused)[index]! })
      expect(await rpc.batch(asking(21))).toEqual(expected)
      const before = refused.splice(0)
      expect(before[0]).toBe(21)
      expect(rpc.batchMax()).toBeLessThanOrEqual(Math.max(1, most))
      expect(await rpc.batch(asking(21))).toEqual(expected)
      expect(refused).toEqual([])
    },
  )
})

describe('the size of a batch', () => {
  it('property 63: is not learnt from trouble, which is told as such', async () => {
    const rpc = open()
    node.play({ fault: faults.oneErrorForAll })
    await expect(rpc.batch(asking(21))).rejects.toBeInstanceOf(NodeUnreachable)
    node.play({ fault: faults.error502 })
    await expect(rpc.batch(asking(21))).rejects.toBeInstanceOf(NodeUnreachable)
    expect(rpc.batchMax()).toBeGreaterThanOrEqual(21)
  })

  it('is that of the settings where they name one', async () => {
    const expected = await honest(21)
    const refused: number[] = []
    node.play({ fault: listLimits(5, refused)[0]! })
    expect(await open(5).batch(asking(21))).toEqual(expected)
    expect(refused).toEqual([])
  })

  it('is kept below a mebibyte of body', async () => {
    const long = Array.from({ length: 30 }, () => ({
      method: 'web3_sha3',
      params: [`0x${'ab'.repeat(60_000)}`],
    }))
    const lengths: number[] = []
    node.play({
      fault: {
        name: 'the length of bodies',
        reply: async ({ requests, forward }) => {
          lengths.push(JSON.stringify(requests).length)
          return { answers: await forward() }
        },
      },
    })
    expect(new Set(await open().batch(long)).size).toBe(1)
    expect(Math.max(...lengths)).toBeLessThan(1_048_576)
  })
})
