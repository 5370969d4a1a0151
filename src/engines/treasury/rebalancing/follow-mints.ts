import { bookedAmount } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { Step } from '#engines/indexer/index'
import { type ObservedTransfer, observedCrosschainOf } from '#engines/indexer/observed/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import type { SentTransaction } from '../store/platform-transactions.ts'
import { completeMinted, type Minted, reopenBurns, reopenMinted } from './store.ts'

/**
 * Completes the rebalancings that a block mints, and resumes the payments that wait for their coins, or takes those up again that
 * an orphaned block minted. Returns the transfers of the block without these mints, whose coins are no stranger's.
 */
export async function followMints(
  tx: Db,
  nowMs: number,
  { kind, blockchain, blockHash }: Step,
  network: Network,
  transfers: readonly ObservedTransfer[],
  resume: (coins: { entityId: string; blockchain: string; tokenId: string }) => Promise<void>,
): Promise<readonly ObservedTransfer[]> {
  if (transfers.length === 0) return transfers
  const events = await observedCrosschainOf(tx, blockchain, blockHash)
  const hashes = new Map(
    events.flatMap((event) =>
      event.kind === 'messageReceived' ? [[event.nonce as string, event.txHash]] : [],
    ),
  )
  if (hashes.size === 0) return transfers
  const at = formatInstant(nowMs)
  const minted =
    kind === 'undone'
      ? await reopenMinted(tx, blockchain, blockHash, at)
      : await completeMinted(tx, { blockchain, blockHash, nonces: [...hashes.keys()] }, at)
  if (minted.length === 0) return transfers
  const type = kind === 'undone' ? 'rebalancing.minting' : 'rebalancing.complete'
  await recordChanges(
    tx,
    nowMs,
    minted.map(({ entityId, id: resourceId }) => ({ entityId, actor, type, resourceId })),
  )
  if (kind !== 'undone')
    for (const { entityId, tokenId } of minted) await resume({ entityId, blockchain, tokenId })
  return transfers.filter(
    (transfer) => !minted.some((each) => isMint(network, transfer, each, hashes.get(each.nonce))),
  )
}

const isMint = (
  network: Network,
  { direction, purpose, entityId, txHash, tokenId, amount }: ObservedTransfer,
  minted: Minted,
  mintTxHash: string | undefined,
): boolean =>
  direction === 'in' &&
  purpose === 'treasury' &&
  entityId === minted.entityId &&
  txHash === mintTxHash &&
  tokenId === minted.tokenId &&
  amount === bookedAmount(network, minted.tokenId, minted.amount)

/** Takes rebalancings up again that failed in an orphaned block: the same burn is sent again and decides again. */
export async function reopenRebalancings(
  tx: Db,
  nowMs: number,
  blockchain: string,
  sent: readonly SentTransaction[],
): Promise<void> {
  if (sent.length === 0) return
  const reopened = await reopenBurns(tx, blockchain, sent, formatInstant(nowMs))
  const type = 'rebalancing.pending'
  await recordChanges(
    tx,
    nowMs,
    reopened.map(({ entityId, id: resourceId }) => ({ entityId, actor, type, resourceId })),
  )
}
