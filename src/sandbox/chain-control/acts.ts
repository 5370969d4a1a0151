import type { LocalChain } from '../chains/index.ts'
import type { BaseFees } from './base-fee.ts'
import type { ChainControl } from './control.ts'
import { hexQuantity } from './control.ts'
import { mineEvery, type PausedModes, pauseMining } from './mine.ts'
import { type Fate, type Replaced, reorganiseAt } from './reorg.ts'
import type { LocalHead } from './state.ts'

/** Changes of a chain that a rule makes after a block: each runs after what was asked for earlier on the chain. */
export type ChainActs = {
  /** Replaces the block, those above it and `depth - 1` below it. Undefined where it was replaced before. */
  reorg(
    chain: LocalChain,
    at: LocalHead & { depth: number; transactions: Fate },
  ): Promise<Replaced | undefined>
  /** Sets the base fee of the next blocks. */
  baseFee(chain: LocalChain, wei: bigint, blocks: number): Promise<void>
  pause(chain: LocalChain): Promise<void>
  mineEvery(chain: LocalChain, seconds: number): Promise<void>
  /** Sets the gas of the blocks from the next one on. */
  gasLimit(chain: LocalChain, gas: number): Promise<void>
}

export function chainActs(control: ChainControl, fees: BaseFees, modes: PausedModes): ChainActs {
  const { ctx, inTurn } = control
  return {
    reorg: (chain, at) => inTurn(chain, () => reorganiseAt(ctx, chain, at)),
    baseFee: (chain, wei, blocks) => inTurn(chain, () => fees.setWei(chain, wei, blocks)),
    pause: (chain) => inTurn(chain, () => pauseMining(chain, modes)),
    mineEvery: (chain, seconds) => inTurn(chain, () => mineEvery(chain, seconds)),
    gasLimit: (chain, gas) =>
      inTurn(chain, async () => void (await chain.ask('evm_setBlockGasLimit', [hexQuantity(gas)]))),
  }
}
