import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import type { CanonicalBlock } from '#engines/indexer/index'
import { syncBalances } from '#engines/indexer/reconciliation/index'
import { openUnlistedHolds } from '#engines/ledger/holds/index'
import { tokensOf } from '#engines/ledger/tokens/index'
import type { Db } from '#runtime/db/db'
import { endCoveredHolds, heldMs } from './book-balances.ts'
import { proveReceived } from './prove-transfers.ts'
import { type BlockOfChain, compareNow, finishChecks, keyOf, lockChecks, type TokenCheck } from './store.ts'

/** Brings all listed balances of these owners in line as soon as the `tx` commits: a comparison of one of them does. */
export async function compareListedNow(
  tx: Db,
  blockchain: string,
  owners: readonly { entityId: string; address: string }[],
): Promise<void> {
  const listed = (await tokensOf(tx, blockchain)).find(({ isNative }) => !isNative)
  if (listed)
    await compareNow(
      tx,
      blockchain,
      owners.map(({ entityId, address }) => ({ entityId, address, tokenId: listed.id })),
    )
}

/** More than any sum of transfers. */
const everything = 2n ** 256n * 2n ** 64n

/** Shows the transfers from before the listing: the logs of a listed token need no proof. */
async function showClaimed(ctx: EngineCtx, tx: Db, block: BlockOfChain, checks: readonly TokenCheck[]) {
  const tokens = await tokensOf(tx, block.blockchain)
  const units = new Map(tokens.map((token) => [token.id, token]))
  return proveReceived(
    ctx,
    tx,
    block,
    checks.flatMap((check) => {
      const { address, standard, decimals } = units.get(check.tokenId) ?? {}
      if (!address || !standard || decimals === undefined) return []
      return [
        {
          ...check,
          unit: { address, standard, decimals, itemId: null, lookAlike: false },
          risenAtomic: everything,
        },
      ]
    }),
  )
}

/**
 * Hands the balances of one owner, in tokens that were listed since, to the indexer, which books their logs with each block:
 * brings them in line once, and ends the holds that transfers placed before. False when it has to be tried again.
 */
export async function handOver(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  checks: readonly [TokenCheck, ...TokenCheck[]],
  nowMs: number,
): Promise<boolean> {
  if (!(await syncBalances(ctx, chain, checks[0], nowMs))) return false
  const block = { blockchain: chain.network.blockchain, ...head }
  return ctx.database.tx(async (tx) => {
    const locked = await lockChecks(tx, checks, block)
    const undecided = await showClaimed(ctx, tx, block, locked)
    const open = await endCoveredHolds(tx, nowMs, head, await openUnlistedHolds(tx, locked))
    const isHeld = new Set(open.map(keyOf))
    const pauseMs = (check: TokenCheck) =>
      undecided.has(keyOf(check)) ? 0 : isHeld.has(keyOf(check)) ? heldMs.min : undefined
    await finishChecks(
      tx,
      locked.map((check) => ({ ...check, changed: false, risenAtomic: 0n, pauseMs: pauseMs(check) })),
      head.number,
    )
    return locked.length > 0
  })
}
