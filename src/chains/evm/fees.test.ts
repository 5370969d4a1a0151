import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestChains, type TestChain } from '../../../testing/chain.ts'
import { networkOf } from '../networks/index.ts'
import { suggestFees } from './fees.ts'
import { createRpc, type Rpc } from './rpc.ts'

let chain: TestChain
let rpc: Rpc
let stop: () => Promise<unknown>
beforeAll(async () => {
  const started = await startTestChains({ blockchains: ['BASE-SEPOLIA'] })
  chain = started.chains[0]!
  stop = started.stop
  rpc = createRpc(chain.rpcUrl)
})
afterAll(async () => {
  rpc?.close()
  await stop?.()
})

const network = networkOf('BASE-SEPOLIA')!
const hex = (value: bigint) => `0x${value.toString(16)}`

it.each(['LOW', 'MEDIUM', 'HIGH'] as const)(
  'who always pays %s alone on a chain does not raise the price',
  async (level) => {
    const first = await suggestFees(rpc, network)
    for (let payments = 0; payments < 12; payments++) {
      const { baseFeeAtomic, priorityFeeAtomic } = await suggestFees(rpc, network)
      await chain.rpc('eth_sendTransaction', [
        {
          from: chain.outsider,
          to: chain.outsider,
          value: '0x1',
          maxPriorityFeePerGas: hex(priorityFeeAtomic[level]),
          maxFeePerGas: hex(2n * baseFeeAtomic + priorityFeeAtomic[level]),
        },
      ])
    }
    const last = await suggestFees(rpc, network)
    expect(last.priorityFeeAtomic[level]).toBe(first.priorityFeeAtomic[level])
  },
)

it('offers what most blocks pay, and does not follow a single one that pays more', async () => {
  const { baseFeeAtomic, priorityFeeAtomic: before } = await suggestFees(rpc, network)
  const tip = before.HIGH * 3n
  const pay = () =>
    chain.rpc('eth_sendTransaction', [
      {
        from: chain.outsider,
        to: chain.outsider,
        maxPriorityFeePerGas: hex(tip),
        maxFeePerGas: hex(tip + 2n * baseFeeAtomic),
      },
    ])
  await pay()
  expect((await suggestFees(rpc, network)).priorityFeeAtomic).toEqual(before)
  for (let payments = 0; payments < 6; payments++) await pay()
  const { LOW, MEDIUM, HIGH } = (await suggestFees(rpc, network)).priorityFeeAtomic
  expect([LOW, MEDIUM, HIGH]).toEqual([tip, tip, tip])
})
