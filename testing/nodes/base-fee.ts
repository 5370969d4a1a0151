import type { TestChain } from '#testing/platform/chain'
import { quantity } from '#testing/platform/json-rpc'

type PricedChain = Pick<TestChain, 'rpc' | 'mine'>

/** The base fee of the newest block, in wei per gas. */
export async function baseFeeOf({ rpc }: PricedChain): Promise<bigint> {
  const block = await rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false])
  return BigInt(block.baseFeePerGas)
}

/** Mines a block with this base fee, in wei per gas. */
export async function mineAtBaseFee({ rpc, mine }: PricedChain, feeAtomic: bigint): Promise<void> {
  await rpc('anvil_setNextBlockBaseFeePerGas', [quantity(feeAtomic)])
  await mine()
}
