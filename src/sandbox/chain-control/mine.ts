import { invalid } from '#lib/errors'
import type { LocalChain } from '../chains/index.ts'
import { hexQuantity } from './control.ts'
import { miningOf } from './state.ts'

/** Measured on a busy machine: 1,500 blocks at once take 4 seconds and 10,000 two and a half minutes, past the time of a request. */
export const minedMax = 1_000
export const intervalMaxS = 86_400
const advanceMaxS = 31_536_000

/** Mines blocks; those beyond the waiting transactions are empty. Their times are `intervalS` apart. */
export async function mineBlocks(
  chain: LocalChain,
  blocks: number,
  intervalS: number | undefined,
): Promise<void> {
  if (intervalS === undefined) return void (await chain.ask('anvil_mine', [hexQuantity(blocks)]))
  if (blocks * intervalS > advanceMaxS)
    throw invalid({
      at: 'intervalS',
      reason: `times blocks must be at most ${advanceMaxS} seconds, a year: mine fewer blocks, or closer ones`,
      value: intervalS,
    })
  await chain.ask('anvil_mine', [hexQuantity(blocks), hexQuantity(intervalS)])
}

/** The mode of a chain before it was paused, to return to. */
export type PausedModes = Map<string, number | 'each_transaction'>

export async function pauseMining(chain: LocalChain, modes: PausedModes): Promise<void> {
  const { mining, intervalS } = await miningOf(chain)
  if (mining === 'paused') return
  modes.set(chain.blockchain, intervalS ?? 'each_transaction')
  await setInterval(chain, 0)
}

/** Mines as before the pause; of a chain that was paused by another program or an earlier process, as at its start. */
export async function resumeMining(chain: LocalChain, modes: PausedModes): Promise<void> {
  if (!(await miningOf(chain)).isPaused) return
  const atStart = chain.blockTimeMs === undefined ? 'each_transaction' : chain.blockTimeMs / 1000
  const mode = modes.get(chain.blockchain) ?? atStart
  if (mode === 'each_transaction') await mineEach(chain)
  // The timer of the node counts whole seconds.
  else await setInterval(chain, Math.max(1, Math.round(mode)))
}

/** Mines a block every so many seconds; 0 is a block for each transaction. */
export async function mineEvery(chain: LocalChain, seconds: number): Promise<void> {
  if (seconds > 0) await setInterval(chain, seconds)
  else await mineEach(chain)
}

/** The node ends the interval by itself, and mines what waits. */
const mineEach = (chain: LocalChain) => chain.ask('evm_setAutomine', [true])

/** An interval of 0 ends every mode of mining. */
const setInterval = (chain: LocalChain, seconds: number) => chain.ask('evm_setIntervalMining', [seconds])
