import type { RecipientAddress } from '#engines/treasury/index'

/** A recipient address as the interface shows it: whose it is stays with us. */
export function showRecipientAddress(stored: RecipientAddress) {
  const { id, chain, address, addressTag, currency, description, status, createDate, updateDate } = stored
  return {
    id,
    chain,
    address,
    ...(addressTag !== null && { addressTag }),
    currency,
    description,
    status,
    createDate,
    updateDate,
  }
}
