import { canonicalHeights } from '#engines/indexer/index'
import { ApiError } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import { oncePer } from '#runtime/scheduling/memoize'
import type { UnifiedChain } from './networks.ts'

/** How long the delay of withdrawals is kept: requests without a key cause few calls of nodes. */
const keptMs = 60_000
/** Time in which an attested transfer can be minted. */
const mintableMs = 600_000

const delays = oncePer((_chain: UnifiedChain['chain']) => ({
  atMs: Number.NEGATIVE_INFINITY,
  delay: undefined as Promise<bigint> | undefined,
}))

/** Blocks between the start and the end of a withdrawal; throws `unavailable` when no node answers. */
function withdrawalDelayOf({ chain, crosschain }: UnifiedChain): Promise<bigint> {
  const kept = delays(chain)
  if (!kept.delay || performance.now() - kept.atMs > keptMs) {
    kept.atMs = performance.now()
    kept.delay = crosschain.withdrawalDelay().catch(() => {
      kept.delay = undefined
      throw new ApiError('unavailable')
    })
  }
  return kept.delay
}

/** The newest blocks of these chains that the indexer followed, by blockchain; throws `unavailable` before the first ones. */
export async function followedHeights(db: Db, chains: readonly UnifiedChain[]): Promise<Map<string, number>> {
  const blockchains = [...new Set(chains.map(({ blockchain }) => blockchain))]
  const rows = await canonicalHeights(db, blockchains)
  if (rows.length < blockchains.length) throw new ApiError('unavailable')
  return new Map(rows.map(({ blockchain, number }) => [blockchain, number]))
}

/** The newest block that the indexer followed; throws `unavailable` before the first one. */
const followedHeight = async (db: Db, chain: UnifiedChain): Promise<number> =>
  (await followedHeights(db, [chain])).get(chain.blockchain)!

/** The lowest `maxBlockHeight` of an intent that this service attests: a withdrawal cannot end before its burn. */
export const expirationHeightOf = async (db: Db, source: UnifiedChain): Promise<bigint> =>
  expirationHeightAbove(await followedHeight(db, source), source)

/** The same, where the newest block is known. */
export const expirationHeightAbove = async (head: number, source: UnifiedChain): Promise<bigint> =>
  BigInt(head) + (await withdrawalDelayOf(source))

/** Blocks of the destination within which a transfer can be minted. */
export const mintableBlocks = ({ chain: { network } }: UnifiedChain): number =>
  Math.ceil(mintableMs / network.blockTimeMs)

/** Blocks that an estimate adds to the lowest height, so that the intent can be signed at leisure: about a day. */
export const leisureBlocks = ({ chain: { network } }: UnifiedChain): bigint =>
  BigInt(Math.ceil(86_400_000 / network.blockTimeMs))
