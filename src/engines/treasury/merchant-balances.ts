import { walletMoney } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { unsettledPayments } from './deposits/store/payments.ts'
import { unsettledTransfers } from './deposits/store/transfers.ts'
import { merchantWalletIdOf } from './merchant-wallet.ts'

/** An amount of one currency, in base units. */
type CurrencyAmount = { currency: string; atomic: bigint }

/**
 * Returns the available and the incoming money of the entity's main wallet, by currency in alphabetical order. Money held for
 * disbursements in progress is in neither.
 */
export async function merchantBalances(
  db: Db,
  entityId: string,
): Promise<{ available: CurrencyAmount[]; unsettled: CurrencyAmount[] }> {
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
