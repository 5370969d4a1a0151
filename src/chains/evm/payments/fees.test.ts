import { afterAll, beforeAll, expect, it } from 'vitest'
import { faults, openHostileRpc } from '#testing/adversary/index'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import type { GasEstimate } from '../../facets/offers.ts'
import { networkOf } from '../../networks/index.ts'
import { createRpc, type Rpc } from '../rpc/rpc.ts'
import { estimateGas, suggestFees } from './fees.ts'

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

it('who pays one price alone on a chain does not raise it', async () => {
  const legacy = { ...network, feeModel: 'gasPrice' } as const
  const { priorityFeeAtomic: first } = await suggestFees(rpc, legacy)
  for (let payments = 0; payments < 12; payments++) {
    const { baseFeeAtomic, priorityFeeAtomic } = await suggestFees(rpc, legacy)
    const gasPrice = hex(2n * baseFeeAtomic + priorityFeeAtomic.HIGH)
    await chain.rpc('eth_sendTransaction', [{ from: chain.outsider, to: chain.outsider, gasPrice }])
  }
  const { priorityFeeAtomic: last } = await suggestFees(rpc, legacy)
  for (const level of ['LOW', 'MEDIUM', 'HIGH'] as const)
    expect(last[level]).toBeLessThanOrEqual(first[level])
})

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

const said: [string, number, GasEstimate['kind']][] = [
  ['execution reverted: insufficient funds', 3, 'reverted'],
  ['execution reverted', -32000, 'reverted'],
  ['VM execution error.', -32015, 'reverted'],
  ['invalid opcode: INVALID', -32000, 'reverted'],
  ['EVM error InvalidFEOpcode', -32603, 'reverted'],
  ['EVM error: StackUnderflow', -32000, 'reverted'],
  ['EVM error OutOfFunds', -32603, 'unknown'],
  ['insufficient funds for transfer', -32000, 'insufficient-funds'],
  ['intrinsic gas too low: have 0, want 21000', -32000, 'refused'],
  ['max initcode size exceeded: code size 60000 limit 49152', -32000, 'refused'],
  ['gas required exceeds allowance (16777216)', -32000, 'refused'],
  ['gas required exceeds allowance (999999999999999)', -32000, 'refused'],
  ['gas required exceeds allowance (1000000)', -32000, 'unknown'],
  ['rate limited', -32005, 'unknown'],
  ['Internal error', -32603, 'unknown'],
  ['execution aborted (timeout = 5s)', -32000, 'unknown'],
  ['header not found', -32000, 'unknown'],
  ['missing trie node', -32000, 'unknown'],
  ['the method eth_estimateGas does not exist/is not available', -32601, 'unknown'],
]

it('property 62: an estimate that is refused says only what the chain says', async () => {
  const node = await openHostileRpc(chain.rpcUrl)
  const asking = createRpc(node.url)
  const call = { to: chain.outsider as `0x${string}`, valueAtomic: 0n, data: '0x' as const }
  const kinds: (readonly [string, number, GasEstimate['kind']])[] = []
  for (const [message, code] of said) {
    node.play({ fault: faults.says(message, code), methods: ['eth_estimateGas'] })
    kinds.push([message, code, (await estimateGas(asking, call.to, call)).kind])
  }
  asking.close()
  await node.close()
  expect(kinds).toEqual(said)
  expect((await estimateGas(asking, call.to, call)).kind).toBe('unknown')
})
