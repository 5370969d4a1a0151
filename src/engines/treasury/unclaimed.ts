import type { Network } from '#chains/network'
import type { ObservedTransfer } from '#engines/indexer/index'
import { post, unclaimedEntries } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { fromOutside } from './from-outside.ts'

/**
 * Books what somebody sent to a treasury: nobody was asked for it and nobody is credited, and yet it is there. With `sign`
 * -1 takes it back, after a reorg.
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
    fromOutside(network, transfers, 'treasury').map(
      ({ entityId, blockHash, txHash, logIndex, address, token, amount }) => ({
        entityId,
        blockchain: '',
        blockHash: '',
        fact: `unclaimed:${blockHash}:${txHash}:${logIndex}${sign < 0n ? ':orphaned' : ''}`,
        entries: unclaimedEntries(address, token.currency, sign * amount),
      }),
    ),
  )
