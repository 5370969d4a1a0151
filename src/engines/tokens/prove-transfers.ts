import { claimedStandard } from '#chains/facets/tokens'
import type { EngineCtx } from '#engines/ctx'
import { decideClaims, undecidedClaims } from '#engines/indexer/observed/index'
import type { UnlistedBalance } from '#engines/ledger/index'
import { fillAmounts, showReceived } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { type BlockOfChain, keyOf, type ToldBalance } from './store.ts'

/** A balance, and by how much it rose since it was compared last, not counting what the wallet sent. */
type RisenBalance = UnlistedBalance & {
  unit: Pick<ToldBalance['unit'], 'address' | 'standard' | 'itemId' | 'decimals' | 'lookAlike'>
  risenAtomic: bigint
}

/** Maximum number of transfers that a comparison decides, to all of its balances alike: its `tx` has to end soon. */
const decidedMax = 1_000

/**
 * Decides the transfers since the previous comparison: the rise covers them in their order, each as a whole. Returns what is
 * left of the rise by `keyOf` of the balance, where more transfers wait.
 */
export async function proveReceived(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, number, hash }: BlockOfChain,
  balances: readonly RisenBalance[],
): Promise<ReadonlyMap<string, bigint>> {
  const held = balances.map(({ entityId, address, unit }) => ({
    ...unit,
    entityId,
    address,
    tokenAddress: unit.address,
    standard: claimedStandard(unit.standard),
  }))
  await fillAmounts(
    tx,
    ctx.clock.nowMs(),
    balances.map(({ unit, ...balance }) => ({ ...balance, decimals: unit.decimals })),
  )
  const left = balances.map(({ risenAtomic }) => risenAtomic)
  const counts = balances.map(() => 0)
  const limit = Math.max(1, Math.floor(decidedMax / balances.length))
  // One more of each balance tells whether more wait.
  const found = await undecidedClaims(tx, blockchain, held, number, limit + 1)
  const isNow = ({ place }: { place: number }) => ++counts[place]! <= limit
  const claims = found.filter(isNow).map((claim) => {
    const covered = claim.amount <= left[claim.place]!
    if (covered) left[claim.place]! -= claim.amount
    return { ...claim, covered }
  })
  const proven = await decideClaims(tx, hash, claims)
  const lookAlikes = new Set(balances.filter(({ unit }) => unit.lookAlike).map(({ unit }) => unit.address))
  await showReceived(
    ctx,
    tx,
    blockchain,
    proven.map((log) => ({ ...log, announced: !lookAlikes.has(log.tokenAddress) })),
  )
  return new Map(
    balances.flatMap((balance, place) =>
      counts[place]! > limit ? [[keyOf(balance), left[place]! > 0n ? left[place]! : 0n] as const] : [],
    ),
  )
}
