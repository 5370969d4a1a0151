import type { RecipientAddress } from '#engines/treasury/address-book/index'

/** A recipient address as the API shows it, without the identity of its owner. */
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
