import type { EngineCtx } from '#engines/ctx'
import { decideClaims, undecidedClaims } from '#engines/indexer/index'
import type { UnlistedBalance } from '#engines/ledger/index'
import { showReceived } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import { keyOf, type ToldBalance } from './store.ts'

export type BlockOfChain = { blockchain: string; number: number; hash: string }

/** A balance, and by how much it rose since it was compared last, not counting what the wallet sent. */
export type RisenBalance = UnlistedBalance & {
  unit: Pick<ToldBalance['unit'], 'address' | 'standard' | 'itemId' | 'lookAlike'>
  risenAtomic: bigint
}

/** Maximum number of transfers to one balance that a comparison decides: its `tx` has to end soon. */
const decidedMax = 500

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
  }))
  const left = balances.map(({ risenAtomic }) => risenAtomic)
  const counts = balances.map(() => 0)
  const claims = (await undecidedClaims(tx, blockchain, held, number, decidedMax)).map((claim) => {
    counts[claim.place]! += 1
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
      counts[place] === decidedMax ? [[keyOf(balance), left[place]! > 0n ? left[place]! : 0n] as const] : [],
    ),
  )
}
