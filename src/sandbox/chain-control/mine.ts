import { invalid } from '#lib/errors'
import type { LocalChain } from '../chains/index.ts'

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
  if (intervalS !== undefined && blocks * intervalS > advanceMaxS)
    throw invalid({
      at: 'intervalS',
      reason: `times blocks must be at most ${advanceMaxS} seconds, a year: mine fewer blocks, or closer ones`,
      value: intervalS,
    })
  await chain.mine(blocks, intervalS)
}

/** The pace of a chain before it was paused, to return to. */
export type PausedModes = Map<string, number | 'each_transaction'>

export async function pauseMining(chain: LocalChain, modes: PausedModes): Promise<void> {
  const pace = await chain.pace()
  if (pace === 'paused') return
  modes.set(chain.blockchain, pace)
  await chain.setPace('paused')
}

/** Mines as before the pause; of a chain that was paused by another program or an earlier process, as at its start. */
export async function resumeMining(chain: LocalChain, modes: PausedModes): Promise<void> {
  if ((await chain.pace()) !== 'paused') return
  const atStart = chain.blockTimeMs === undefined ? 'each_transaction' : chain.blockTimeMs / 1000
  await chain.setPace(modes.get(chain.blockchain) ?? atStart)
}

/** Mines a block every so many seconds; 0 is a block for each transaction. */
export const mineEvery = (chain: LocalChain, seconds: number): Promise<void> =>
  chain.setPace(seconds > 0 ? seconds : 'each_transaction')
