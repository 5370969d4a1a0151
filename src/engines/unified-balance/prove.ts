import type { EngineCtx } from '#engines/ctx'
import { settledRead } from '#engines/indexer/reconciliation/index'
import { unifiedChains } from './networks.ts'
import { type ChainSums, sumsOf, type UnifiedBookError, unifiedBookErrors } from './store/proof.ts'

/** One chain at a block: deposits less withdrawals, burns and fees is what its wallet contract holds. */
type UnifiedChainProof = ChainSums & {
  blockchain: string
  decimals: number
  heldAtomic: bigint
  bookedAtomic: bigint
  /** Coins that are missing in the contract; coins that strangers sent to it are no gap. */
  gapAtomic: bigint
}

export type UnifiedProof = {
  chains: UnifiedChainProof[]
  errors: UnifiedBookError[]
}

/** Compares the unified balances with their contracts to the base unit. Throws when a node does not answer. */
export async function proveUnifiedBalances(ctx: EngineCtx): Promise<UnifiedProof> {
  const chains: UnifiedChainProof[] = []
  for (const { chain, blockchain, wallet, token, decimals } of unifiedChains(ctx)) {
    const sums = await sumsOf(ctx.db, blockchain)
    if (!sums) continue
    const { depositedAtomic, withdrawnAtomic, burnedAtomic, feesAtomic } = sums
    const bookedAtomic = depositedAtomic - withdrawnAtomic - burnedAtomic - feesAtomic
    const heldAtomic = await settledRead(
      chain.blocks,
      sums.blockNumber,
      () => chain.balances.of(wallet, token, { number: sums.blockNumber, hash: sums.blockHash }),
      (held) => held < bookedAtomic,
    )
    const gapAtomic = bookedAtomic > heldAtomic ? bookedAtomic - heldAtomic : 0n
    chains.push({ ...sums, blockchain, decimals, heldAtomic, bookedAtomic, gapAtomic })
  }
  return { chains, errors: await unifiedBookErrors(ctx.db) }
}
