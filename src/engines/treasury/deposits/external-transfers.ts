import type { NetworkToken } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { ObservedTransfer } from '#engines/indexer/observed/index'

/** A transfer to a merchant's deposit address or treasury in a token that is credited. */
export type ExternalTransfer = ObservedTransfer & { token: NetworkToken }

/** Selects the transfers of credited tokens that external senders made to addresses of this purpose. */
export function externalTransfers(
  network: Network,
  transfers: readonly ObservedTransfer[],
  purpose: 'deposit' | 'treasury',
): ExternalTransfer[] {
  const inside = new Set(transfers.filter(isSentByMerchant).map(placeOf))
  return transfers.flatMap((transfer) => {
    const token = network.tokens.find(({ id }) => id === transfer.tokenId)
    const counts = transfer.direction === 'in' && transfer.purpose === purpose && transfer.amount > 0n
    return token && counts && !inside.has(placeOf(transfer)) ? [{ ...transfer, token }] : []
  })
}

/** Whether a merchant's own deposit address or treasury sent the coins: an internal move has no external sender. */
const isSentByMerchant = ({ direction, purpose }: ObservedTransfer) =>
  direction === 'out' && purpose !== 'wallet'

const placeOf = ({ entityId, txHash, kind, position }: ObservedTransfer) =>
  `${entityId}:${txHash}:${kind}:${position}`
