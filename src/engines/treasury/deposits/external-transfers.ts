import { type NetworkToken, stablecoinWithId, unitsOfBooks } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { ObservedTransfer } from '#engines/indexer/observed/index'

/**
 * A transfer to a merchant's deposit address or treasury in a token that is credited. `amount` is in the units of the token's contract,
 * and `dustAtomic` the rest in those of the books, where these have more digits.
 */
export type ExternalTransfer = ObservedTransfer & { token: NetworkToken; dustAtomic: bigint }

/** Selects the transfers of credited tokens that external senders made to addresses of this purpose, dust alone included. */
export function externalTransfers(
  network: Network,
  transfers: readonly ObservedTransfer[],
  purpose: 'deposit' | 'treasury',
): ExternalTransfer[] {
  const inside = new Set(transfers.filter(isSentByMerchant).map(placeOf))
  return transfers.flatMap((transfer) => {
    const token = stablecoinWithId(network, transfer.tokenId)
    const counts = transfer.direction === 'in' && transfer.purpose === purpose && transfer.amount > 0n
    if (!token || !counts || inside.has(placeOf(transfer))) return []
    const units = unitsOfBooks(network, token)
    return [{ ...transfer, token, amount: transfer.amount / units, dustAtomic: transfer.amount % units }]
  })
}

/** Whether a merchant's own deposit address or treasury sent the coins: an internal move has no external sender. */
const isSentByMerchant = ({ direction, purpose }: ObservedTransfer) =>
  direction === 'out' && (purpose === 'deposit' || purpose === 'treasury')

const placeOf = ({ entityId, txHash, kind, position }: ObservedTransfer) =>
  `${entityId}:${txHash}:${kind}:${position}`
