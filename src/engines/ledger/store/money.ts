import type { Db } from '#runtime/db/db'
import { sql } from '#runtime/db/db'
import type { Unit } from './accounts.ts'
import type { Entry } from './postings.ts'

/** Money is counted in millionths of its currency, as stablecoins are. */
export const currencyDecimals = 6

/** The money of a merchant's wallet in one currency, in base units. */
type WalletMoney = { currency: string; postedAtomic: bigint; heldAtomic: bigint }

/** One row for each currency that the wallet ever had, in their alphabetical order. */
export const walletMoney = (db: Db, entityId: string, walletId: string) =>
  db.all<WalletMoney>(sql`select a.currency, a.posted as posted_atomic, a.held as held_atomic from accounts a
    where a.entity_id = ${entityId} and a.kind = 'wallet' and a.address = ${walletId} and a.currency is not null
    order by a.currency`)

/** The entries of a merchant's income, or of an expense when the amount is negative. */
export const walletEntries = (walletId: string, currency: string, amountAtomic: bigint): Entry[] => [
  { kind: 'wallet', currency, address: walletId, amountAtomic },
  { kind: 'settlement', currency, address: walletId, amountAtomic: -amountAtomic },
]

/** Unclaimed coins of a treasury, in their unit. */
export type UnclaimedCoins = { treasury: string; unit: Unit; amountAtomic: bigint }

/** The entries that assign unclaimed coins of a treasury to a merchant, or the reverse when the amounts are negative. */
export const claimedEntries = (
  { treasury, unit, amountAtomic: coinsAtomic }: UnclaimedCoins,
  walletId: string,
  currency: string,
  amountAtomic: bigint,
): Entry[] => [
  ...unclaimedEntries(treasury, unit, -coinsAtomic),
  ...walletEntries(walletId, currency, amountAtomic),
]

/**
 * The entries of coins that an address received and that belong to no merchant, or that it spent. They are in the token where it
 * pays for gas, and else in its currency.
 */
export const unclaimedEntries = (address: string, unit: Unit, amountAtomic: bigint): Entry[] => [
  { kind: 'unclaimed', ...unit, address, amountAtomic },
  { kind: 'settlement', ...unit, address, amountAtomic: -amountAtomic },
]

/** The entries of an operator's correction: of the coins of an address, or of the money behind all coins. */
export const adjustmentEntries = (
  corrected: { tokenId: string; address: string } | { currency: string },
  amountAtomic: bigint,
): Entry[] => {
  if ('currency' in corrected) {
    const { currency } = corrected
    return [
      { kind: 'adjustment', currency, amountAtomic },
      { kind: 'settlement', currency, amountAtomic: -amountAtomic },
    ]
  }
  const { tokenId, address } = corrected
  return [
    { kind: 'address', tokenId, address, amountAtomic },
    { kind: 'adjustment', tokenId, amountAtomic: -amountAtomic },
  ]
}
