import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { balancesOf, type Posting, post, tokensOf } from '#engines/ledger/index'
import { newId } from '#lib/ids'
import { canonicalHead, lockChain } from './store/blocks.ts'

/**
 * Compares what the chain says that an address owns with the books, both at the last applied block, and books any
 * difference: coins paid by a contract's inside call, or put there by a test node's own commands, leave no transfer.
 * Uses a `tx` of its own; do not call it while holding the address's accounts.
 */
export async function syncBalances(
  ctx: EngineCtx,
  chain: Chain,
  owner: { entityId: string; address: string },
): Promise<void> {
  const { blockchain } = chain.network
  const head = await canonicalHead(ctx.database, blockchain)
  if (!head) return
  const address = owner.address as `0x${string}`
  const tokens = await tokensOf(ctx.database, blockchain)
  const there = await Promise.all(
    tokens.map((token) =>
      chain.balanceOf(
        address,
        (token.address ?? undefined) as `0x${string}` | undefined,
        head.hash as `0x${string}`,
      ),
    ),
  ).catch(() => undefined)
  // The node has left that block already: the next block will bring a better moment.
  if (!there) return
  await ctx.database.tx(async (tx) => {
    await lockChain(tx, blockchain)
    if ((await canonicalHead(tx, blockchain))?.hash !== head.hash) return
    const booked = new Map(
      (await balancesOf(tx, owner.entityId, blockchain, [address])).map((row) => [row.tokenId, row]),
    )
    const nowMs = ctx.clock.nowMs()
    const postings = tokens.map((token, index): Posting => {
      const amountAtomic = there[index]! - (booked.get(token.id)?.postedAtomic ?? 0n)
      return {
        entityId: owner.entityId,
        blockchain,
        blockHash: head.hash,
        fact: `difference:${newId(nowMs)}`,
        entries: [
          { kind: 'address', tokenId: token.id, address, amountAtomic },
          { kind: 'difference', tokenId: token.id, amountAtomic: -amountAtomic },
        ],
      }
    })
    await post(tx, nowMs, postings)
  })
}
