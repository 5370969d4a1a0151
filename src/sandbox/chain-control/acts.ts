import { requireEvm } from '../chains/abilities.ts'
import { hexQuantity } from '../chains/evm-chain.ts'
import type { Fate, LocalChain, LocalHead, Replaced } from '../chains/local-chain.ts'
import type { BaseFees } from './base-fee.ts'
import type { ChainControl } from './control.ts'
import { mineEvery, type PausedModes, pauseMining } from './mine.ts'
import { reorganiseAt } from './reorg.ts'

/** Changes of a chain that a rule makes after a block: each runs after what was asked for earlier on the chain. */
export type ChainActs = {
  /** Replaces the block, those above it and `depth - 1` below it. Undefined where it was replaced before. */
  reorg(
    chain: LocalChain,
    at: LocalHead & { depth: number; transactions: Fate },
  ): Promise<Replaced | undefined>
  /** Multiplies the base fee of the newest block, for the next blocks. */
  baseFee(chain: LocalChain, times: number, blocks: number): Promise<void>
  pause(chain: LocalChain): Promise<void>
  mineEvery(chain: LocalChain, seconds: number): Promise<void>
  /** Sets the gas of the blocks from the next one on. */
  gasLimit(chain: LocalChain, gas: number): Promise<void>
}

export function chainActs(control: ChainControl, fees: BaseFees, modes: PausedModes): ChainActs {
  const { ctx, inTurn } = control
  return {
    reorg: (chain, at) => inTurn(chain, () => reorganiseAt(ctx, chain, at)),
    baseFee: (chain, times, blocks) =>
      inTurn(chain, () => fees.multiply(requireEvm(chain, 'base-fee'), times, blocks)),
    pause: (chain) => inTurn(chain, () => pauseMining(chain, modes)),
    mineEvery: (chain, seconds) => inTurn(chain, () => mineEvery(chain, seconds)),
    gasLimit: (chain, gas) =>
      inTurn(chain, async () => {
        await requireEvm(chain, 'gas-limit').ask('evm_setBlockGasLimit', [hexQuantity(gas)])
      }),
  }
}
