import type { Db } from '#runtime/db/db'
import { sql } from '#runtime/db/db'
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

/** The entries that assign unclaimed coins of a treasury to a merchant, or the reverse when the amount is negative. */
export const claimedEntries = (
  treasury: string,
  walletId: string,
  currency: string,
  amountAtomic: bigint,
): Entry[] => [
  ...unclaimedEntries(treasury, currency, -amountAtomic),
  ...walletEntries(walletId, currency, amountAtomic),
]

/** The entries of coins that a treasury received and that belong to no merchant. */
export const unclaimedEntries = (treasury: string, currency: string, amountAtomic: bigint): Entry[] => [
  { kind: 'unclaimed', currency, address: treasury, amountAtomic },
  { kind: 'settlement', currency, address: treasury, amountAtomic: -amountAtomic },
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
