import type { ObservedTransfer } from './store/transfers.ts'

/** Numbers the transfers of one token to one address within each transaction, in the order in which the block tells of them. */
export function withOrdinals<Transfer extends ObservedTransfer>(
  transfers: readonly Transfer[],
): (Transfer & { ordinal: number })[] {
  const counts = new Map<string, number>()
  return [...transfers]
    .sort((one, other) => one.kind.localeCompare(other.kind) || one.position - other.position)
    .map((transfer) => {
      const key = [transfer.entityId, transfer.txHash, transfer.address, transfer.tokenId].join()
      const ordinal = counts.get(key) ?? 0
      counts.set(key, ordinal + 1)
      return { ...transfer, ordinal }
    })
}
