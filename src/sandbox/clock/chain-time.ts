import type { LocalChain } from '../chains/index.ts'

/** Sets the time of the next blocks, at least that of the newest block. */
export const setChainTime = (chains: readonly LocalChain[], nowMs: number, isFrozen: boolean) =>
  onEach(chains, (chain) => chain.setTime(nowMs, isFrozen))

export const freezeChainTime = (chains: readonly LocalChain[]) =>
  onEach(chains, (chain) => chain.freezeTime())

export const releaseChainTime = (chains: readonly LocalChain[]) =>
  onEach(chains, (chain) => chain.releaseTime())

/** Mines a block on each chain that time makes none for, so that contracts and readers see the new time; a pause goes on. */
export const mineOnEach = (chains: readonly LocalChain[]) =>
  onEach(chains, async (chain) => {
    if ((await chain.pace()) === 'each_transaction') await chain.mine(1)
  })

const onEach = async (chains: readonly LocalChain[], work: (chain: LocalChain) => Promise<unknown>) => {
  await Promise.all(chains.map(work))
}
