import { walletMoney } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { merchantWalletIdOf } from './merchant-wallet.ts'
import { unsettledPayments } from './store/payments.ts'
import { unsettledTransfers } from './store/transfers.ts'

/** Base units of one currency. */
export type Money = { currency: string; atomic: bigint }

/**
 * What the entity's main wallet can spend now, and what is on its way to it, by currency in alphabetical order. What a
 * payout or transfer under way reserves is in neither.
 */
export async function merchantBalances(
  db: Db,
  entityId: string,
): Promise<{ available: Money[]; unsettled: Money[] }> {
  const owned = await walletMoney(db, entityId, merchantWalletIdOf(entityId))
  const coming = [...(await unsettledPayments(db, entityId)), ...(await unsettledTransfers(db, entityId))]
  const sums = new Map<string, bigint>()
  for (const { currency, amount } of coming) sums.set(currency, (sums.get(currency) ?? 0n) + amount)
  return {
    available: owned.map(({ currency, postedAtomic, heldAtomic }) => ({
      currency,
      atomic: postedAtomic - heldAtomic,
    })),
    unsettled: [...sums]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, atomic]) => ({ currency, atomic })),
  }
}
