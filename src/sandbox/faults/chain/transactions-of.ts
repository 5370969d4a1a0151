import { managedAmong } from '#custody/wallets/index'
import type { EngineCtx } from '#engines/ctx'
import type { LocalChain, TouchingTransaction } from '../../chains/local-chain.ts'

export type BlockTransaction = TouchingTransaction & {
  /** The entities that hold one of them. */
  entityIds: readonly string[]
}

/** The transactions of a block; none of a block that is gone. */
export async function transactionsOf(
  { database }: EngineCtx,
  chain: LocalChain,
  hash: string,
): Promise<BlockTransaction[]> {
  const found = await chain.transactionsIn(hash)
  const all = [...new Set(found.flatMap(({ addresses }) => addresses))]
  const managed = all.length === 0 ? [] : await managedAmong(database, chain.blockchain, all)
  return found.map((each) => ({
    ...each,
    entityIds: managed
      .filter(({ address }) => each.addresses.some((own) => own === address))
      .map(({ entityId }) => entityId),
  }))
}
