import type { EngineCtx } from '#engines/ctx'
import { canonicalHashAt, contentHashesBetween } from '#engines/indexer/index'
import type { MessageChain } from './networks.ts'
import type { MessageHeights } from './store/messages.ts'

type PlacedBlock = { number: number; hash: string }

/** The blocks above the final one that are deep enough for attestations before finality; none when `to` is the lower one. */
export function fastRange(
  { chain }: MessageChain,
  { followed, final }: MessageHeights,
): { from: number; to: number } {
  const { fastConfirmations = chain.confirmations } = chain.network
  return { from: final + 1, to: followed - (chain.local ? 1 : fastConfirmations) + 1 }
}

/** Asks the endpoints, outside any `tx`, on which of the blocks (lowest first) enough of them agree; returns their hashes. */
export async function agreedBlocks(
  ctx: EngineCtx,
  { chain, blockchain }: MessageChain,
  final: number,
  blocks: readonly PlacedBlock[],
): Promise<readonly string[]> {
  if (chain.local || blocks.length === 0) return blocks.map(({ hash }) => hash)
  const { upTo = final } = await chain.blocks.agreedUpTo(blocks.at(-1)!.number, (number) =>
    canonicalHashAt(ctx.database, blockchain, number),
  )
  const deep = blocks.filter(({ number }) => number <= upTo)
  const agreed = await Promise.all(
    deep.map(async ({ number, hash }) => {
      const range = { from: number, to: number }
      const [block] = await contentHashesBetween(ctx.database, blockchain, range, 1)
      if (block?.hash !== hash) return []
      return (await chain.blocks.agreedContent(block, block.contentHash)).verdict === 'agreed' ? [hash] : []
    }),
  )
  return agreed.flat()
}
