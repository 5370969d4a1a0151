import type { LocalChain } from '../chains/index.ts'
import { call } from '../chains/rpc.ts'

type TimedChain = Pick<LocalChain, 'rpcUrl'>

const headSecond = async ({ rpcUrl }: TimedChain) => {
  const { timestamp } = await call<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false])
  return Number(timestamp)
}

/** Sets the time of the next blocks, at least a second after the newest block: a node would go back without a complaint. */
export const setChainTime = (chains: readonly TimedChain[], nowMs: number, isFrozen: boolean) =>
  each(chains, async (chain) => {
    const second = Math.max(Math.floor(nowMs / 1000), (await headSecond(chain)) + 1)
    if (isFrozen) await call(chain.rpcUrl, 'evm_setNextBlockTimestamp', [second])
    else await call(chain.rpcUrl, 'evm_setTime', [second])
  })

/** While time stands still, each block is a second later than the one before. */
export const freezeChainTime = (chains: readonly TimedChain[]) =>
  each(chains, ({ rpcUrl }) => call(rpcUrl, 'anvil_setBlockTimestampInterval', [1]))

export const releaseChainTime = (chains: readonly TimedChain[]) =>
  each(chains, ({ rpcUrl }) => call(rpcUrl, 'anvil_removeBlockTimestampInterval'))

/** Mines a block on each chain, so that contracts and readers see the new time. */
export const mineOnEach = (chains: readonly TimedChain[]) =>
  each(chains, ({ rpcUrl }) => call(rpcUrl, 'evm_mine'))

const each = async (chains: readonly TimedChain[], work: (chain: TimedChain) => Promise<unknown>) => {
  await Promise.all(chains.map(work))
}
