import type { EngineCtx } from '#engines/ctx'
import { decideClaims, undecidedClaims } from '#engines/indexer/index'
import type { UnlistedBalance } from '#engines/ledger/index'
import { showReceived } from '#engines/transactions/index'
import type { Db } from '#runtime/db/db'
import type { ToldBalance } from './store.ts'

/** A balance, and by how much it rose since it was compared last, not counting what the wallet sent. */
export type RisenBalance = UnlistedBalance & { unit: ToldBalance['unit']; risenAtomic: bigint }

/** Decides the transfers since the previous comparison: the rise covers them in their order, each as a whole. */
export async function proveReceived(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, number }: { blockchain: string; number: number },
  balances: readonly RisenBalance[],
): Promise<void> {
  const held = balances.map(({ entityId, address, unit }) => ({
    ...unit,
    entityId,
    address,
    tokenAddress: unit.address,
  }))
  const left = balances.map(({ risenAtomic }) => risenAtomic)
  const claims = (await undecidedClaims(tx, blockchain, held, number)).map((claim) => {
    const covered = claim.amount <= left[claim.place]!
    if (covered) left[claim.place]! -= claim.amount
    return { ...claim, covered }
  })
  const proven = await decideClaims(tx, claims)
  const lookAlikes = new Set(balances.filter(({ unit }) => unit.lookAlike).map(({ unit }) => unit.address))
  await showReceived(
    ctx,
    tx,
    blockchain,
    proven.map((log) => ({ ...log, announced: !lookAlikes.has(log.tokenAddress) })),
  )
}
