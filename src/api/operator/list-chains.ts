import { headOf } from '#api/sources/chain-head'
import { capabilityNames } from '#chains/capabilities'
import type { Chain } from '#chains/chain'
import type { BlockRef } from '#chains/facets/blocks'
import type { EngineCtx } from '#engines/ctx'
import { highestFinal, indexedHead, isHalted } from '#engines/indexer/index'
import { formatInstant } from '#lib/time'

export const chainStates = ['following', 'behind', 'unreachable', 'halted'] as const
export type ChainState = (typeof chainStates)[number]

/** Indexing progress of each chain of this server. */
export const listChains = (ctx: EngineCtx) =>
  Promise.all(ctx.chains.list().map((chain) => showChain(ctx, chain)))

async function showChain(ctx: EngineCtx, chain: Chain) {
  const { blockchain, chainId, nativeToken, domain } = chain.network
  const [head, indexed, final, halted] = await Promise.all([
    headOf(chain),
    indexedHead(ctx.db, blockchain),
    highestFinal(ctx.db, blockchain),
    isHalted(ctx.db, blockchain),
  ])
  const lagBlocks = head && indexed && Math.max(0, head.number - indexed.number)
  return {
    blockchain,
    chainId,
    nativeSymbol: nativeToken.symbol,
    ...(domain !== undefined && { domain }),
    capabilities: capabilityNames(blockchain),
    ...(head && { headNumber: head.number, headDate: formatInstant(head.timeMs) }),
    ...(indexed && { indexedNumber: indexed.number }),
    ...(final >= 0 && { finalNumber: final }),
    ...(lagBlocks !== undefined && { lagBlocks }),
    ...(head &&
      indexed && { lagMs: lagBlocks === 0 ? 0 : Math.max(0, head.timeMs - Date.parse(indexed.blockTime)) }),
    state: halted ? ('halted' as const) : stateOf(head, lagBlocks),
  }
}

/** State of a chain that is not halted. A lag of one block depends only on the moment of the request. */
const stateOf = (head: BlockRef | undefined, lagBlocks: number | undefined): ChainState => {
  if (!head) return 'unreachable'
  return lagBlocks !== undefined && lagBlocks <= 1 ? 'following' : 'behind'
}
