import type { Address, Call, FeeSuggestion, GasEstimate } from '../chain.ts'
import type { Network } from '../network.ts'
import { quantity, toQuantity } from './quantities.ts'
import { type Rpc, RpcError, RpcUnreachable } from './rpc.ts'

type History = { baseFeePerGas?: unknown[]; reward?: unknown[][] }

/** The least priority fee worth offering: one wei less and pools drop it on the first fee step. */
const priorityFloorAtomic = 1_000_000n
const historyBlocks = 5

/** Base fee of the next block, and priority fees at the 25th, 50th and 90th percentile of recent blocks. */
export async function suggestFees(rpc: Rpc, network: Network): Promise<FeeSuggestion> {
  if (!network.eip1559) {
    const price = quantity(await rpc.call('eth_gasPrice', []), 'gas price')
    const zero = { LOW: 0n, MEDIUM: price / 10n, HIGH: price / 4n }
    return { baseFeeAtomic: price, priorityFeeAtomic: zero }
  }
  const history = await rpc.call<History>('eth_feeHistory', [
    toQuantity(historyBlocks),
    'latest',
    [25, 50, 90],
  ])
  const next = history.baseFeePerGas?.at(-1)
  if (next === undefined) throw new RpcUnreachable('the fee history has no base fee')
  const level = (index: number, floor: bigint) => {
    const rewards = (history.reward ?? []).map((block) => quantity(block[index], 'reward'))
    return rewards.reduce((most, reward) => (reward > most ? reward : most), floor)
  }
  // Each level offers more than the one below, also where all recent blocks paid the same.
  const low = level(0, priorityFloorAtomic)
  const medium = level(1, low + low / 4n)
  return {
    baseFeeAtomic: quantity(next, 'base fee'),
    priorityFeeAtomic: { LOW: low, MEDIUM: medium, HIGH: level(2, medium + medium / 4n) },
  }
}

/** What the call would use, or why it cannot be done, in terms that do not depend on the node's wording. */
export async function estimateGas(rpc: Rpc, from: Address, call: Call): Promise<GasEstimate> {
  const request = { from, to: call.to, value: toQuantity(call.valueAtomic), data: call.data }
  try {
    return { kind: 'estimated', gas: quantity(await rpc.call('eth_estimateGas', [request]), 'gas estimate') }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { message } = error
    if (/insufficient funds|lack of funds|insufficient balance for transfer/i.test(message)) {
      return { kind: 'insufficient-funds', message }
    }
    return { kind: /revert/i.test(message) || error.rpcCode === 3 ? 'reverted' : 'failed', message }
  }
}
