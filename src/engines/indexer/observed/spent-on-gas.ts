import type { ManagedAddress } from '#custody/wallets/index'
import { type Entry, unclaimedEntries } from '#engines/ledger/index'
import type { Token } from '#engines/ledger/tokens/index'

/**
 * The entries by which a treasury pays for gas, or is paid for it, out of the coins that no merchant owns; none where the native coin
 * is no stablecoin, since no merchant owns such a coin. They are booked with the change of the balance: no moment shows one alone.
 */
export const spentOnGas = (
  { currency, isNative, id: tokenId }: Token,
  { address, purpose }: Pick<ManagedAddress, 'address' | 'purpose'>,
  amountAtomic: bigint,
): Entry[] =>
  isNative && currency !== null && purpose === 'treasury'
    ? unclaimedEntries(address, { tokenId }, amountAtomic)
    : []
