import type { Network } from '#chains/networks/index'
import type { ObservedTransfer } from '#engines/indexer/observed/index'
import { post, unclaimedEntries } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { externalTransfers } from './external-transfers.ts'

/**
 * Books transfers from external senders to a treasury, which no merchant requested and none is credited with. `sign` -1
 * reverts the posting after a reorg.
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
    externalTransfers(network, transfers, 'treasury').map(
      ({ entityId, blockHash, txHash, kind, position, address, token, amount }) => ({
        entityId,
        blockchain: '',
        blockHash: '',
        fact: `unclaimed:${blockHash}:${txHash}:${kind}:${position}${sign < 0n ? ':orphaned' : ''}`,
        entries: unclaimedEntries(address, token.currency, sign * amount),
      }),
    ),
  )
