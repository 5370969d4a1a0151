import { paysForGas, unitsOfBooks } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { ObservedTransfer } from '#engines/indexer/observed/index'
import { type Entry, post, unclaimedEntries } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { type ExternalTransfer, externalTransfers } from './external-transfers.ts'

/**
 * Books transfers from external senders to a treasury, which no merchant requested and none is credited with, and the dust of
 * deposits below the smallest unit of money. `sign` -1 reverts the posting after a reorg.
 */
export const bookUnclaimed = (
  tx: Db,
  nowMs: number,
  network: Network,
  transfers: readonly ObservedTransfer[],
  sign: 1n | -1n,
): Promise<void> =>
  post(
    tx,
    nowMs,
    [
      ...externalTransfers(network, transfers, 'treasury'),
      ...externalTransfers(network, transfers, 'deposit').map((deposit) => ({ ...deposit, amount: 0n })),
    ].map((transfer) => ({
      entityId: transfer.entityId,
      ...placeOf(network, transfer),
      blockHash: '',
      fact: factOf(transfer, sign),
      entries: entriesOf(network, transfer, sign),
    })),
  )

/** Coins that pay for gas are told apart on their chain, others in the money of all chains. */
const placeOf = (network: Network, { tokenId, blockchain }: ExternalTransfer) => ({
  blockchain: paysForGas(network, tokenId) ? blockchain : '',
})

const factOf = ({ blockHash, txHash, kind, position }: ExternalTransfer, sign: 1n | -1n): string =>
  `unclaimed:${blockHash}:${txHash}:${kind}:${position}${sign < 0n ? ':orphaned' : ''}`

function entriesOf(
  network: Network,
  { address, tokenId, token, amount, dustAtomic }: ExternalTransfer,
  sign: 1n | -1n,
): Entry[] {
  if (!paysForGas(network, tokenId))
    return unclaimedEntries(address, { currency: token.currency }, sign * amount)
  return unclaimedEntries(address, { tokenId }, sign * (amount * unitsOfBooks(network, token) + dustAtomic))
}
