import type { Recipient } from '#engines/treasury/address-book/index'

/** A recipient as the API shows it; unset members are omitted. */
export function showRecipient(recipient: Recipient) {
  const { id, chain, address, addressTag, nickname, email, bns, status, createDate, updateDate } = recipient
  return {
    id,
    chain,
    address,
    ...(addressTag !== null && { addressTag }),
    metadata: {
      ...(nickname !== null && { nickname }),
      ...(email !== null && { email }),
      ...(bns !== null && { bns }),
    },
    status,
    createDate,
    updateDate,
  }
}
