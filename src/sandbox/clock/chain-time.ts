import { localHead, miningOf } from '../chain-control/state.ts'
import type { LocalChain } from '../chains/index.ts'

/** Sets the time of the next blocks, at least a second after the newest block: a node would go back without a complaint. */
export const setChainTime = (chains: readonly LocalChain[], nowMs: number, isFrozen: boolean) =>
  onEach(chains, async (chain) => {
    const { timestampS } = await localHead(chain)
    const second = Math.max(Math.floor(nowMs / 1000), timestampS + 1)
    await chain.ask(isFrozen ? 'evm_setNextBlockTimestamp' : 'evm_setTime', [second])
  })

/** While time stands still, each block is a second later than the one before. */
export const freezeChainTime = (chains: readonly LocalChain[]) =>
  onEach(chains, (chain) => chain.ask('anvil_setBlockTimestampInterval', [1]))

export const releaseChainTime = (chains: readonly LocalChain[]) =>
  onEach(chains, (chain) => chain.ask('anvil_removeBlockTimestampInterval'))

/** Mines a block on each chain that time makes none for, so that contracts and readers see the new time; a pause goes on. */
export const mineOnEach = (chains: readonly LocalChain[]) =>
  onEach(chains, async (chain) => {
    const { mining } = await miningOf(chain)
    if (mining === 'each_transaction') await chain.ask('evm_mine')
  })

const onEach = async (chains: readonly LocalChain[], work: (chain: LocalChain) => Promise<unknown>) => {
  await Promise.all(chains.map(work))
}
