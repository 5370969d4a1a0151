/**
 * Turns transfers to the account's own deposit addresses into incoming transfers: `running` when a block holds one,
 * `complete` and credited when the block has its confirmations. An orphaned block returns them to `pending`; a transfer that
 * no later block includes fails.
 */
import type { Network } from '#chains/networks/index'
import { withdrawReviews } from '#engines/compliance/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { merchantWalletIdOf } from '../merchant-wallet.ts'
import { reviewDeposits, type ScreenedArrival } from './screen-arrivals.ts'
import { deniedCode } from './store/reviewed-deposits.ts'
import {
  finalIncoming,
  incomingOfBlock,
  lostIncoming,
  orphanIncoming,
  type PlacedTransfer,
  saveIncoming,
  setIncoming,
  type Transfer,
} from './store/transfers.ts'
import type { Deposit, FollowedBlock, ObservedBlock } from './types.ts'
import { creditWallets, revertCredits } from './wallet-credits.ts'

/**
 * Records the arrivals of a block, and settles the transfers that now have their confirmations. Transfers orphaned from
 * blocks up to `lostTo` fail.
 */
export async function applyIncoming(
  tx: Db,
  nowMs: number,
  network: Network,
  block: FollowedBlock,
  arrivals: readonly ScreenedArrival[],
): Promise<void> {
  const { blockchain } = network
  const at = formatInstant(nowMs)
  const coming = arrivals.filter(({ at }) => at.paymentIntentId === null)
  const seen = coming.length > 0 ? await saveIncoming(tx, coming.map(transferOf(nowMs, block))) : []
  await reviewDeposits(tx, nowMs, 'transfer', coming, seen)
  const accepted = seen.filter(({ review }) => review !== 'denied')
  await recordIncoming(tx, nowMs, accepted, 'pending')
  await setIncoming(tx, accepted, 'running', at)
  await recordIncoming(tx, nowMs, accepted, 'running')
  await recordIncoming(
    tx,
    nowMs,
    seen.filter(({ review }) => review === 'denied'),
    'failed',
  )
  await settleIncoming(tx, nowMs, blockchain, block.completeTo)
  const lost = await lostIncoming(tx, blockchain, block.lostTo)
  await setIncoming(tx, lost, 'failed', at)
  await withdrawReviews(tx, nowMs, lost)
  await recordIncoming(tx, nowMs, lost, 'failed')
}

/** Settles the transfers in blocks up to `completeTo` that no review keeps from it. */
export async function settleIncoming(
  tx: Db,
  nowMs: number,
  blockchain: string,
  completeTo: number,
): Promise<void> {
  const final = await finalIncoming(tx, blockchain, completeTo)
  await setIncoming(tx, final, 'complete', formatInstant(nowMs))
  await recordIncoming(tx, nowMs, final, 'complete')
  await creditWallets(tx, nowMs, 'transfer', final.map(depositOf))
}

/** Reverts the transfers of an orphaned block and their credits. */
export async function revertIncoming(
  tx: Db,
  nowMs: number,
  blockchain: string,
  block: ObservedBlock,
): Promise<void> {
  const held = await incomingOfBlock(tx, blockchain, block.hash)
  if (held.length === 0) return
  await orphanIncoming(tx, held, block.hash, formatInstant(nowMs))
  await recordIncoming(
    tx,
    nowMs,
    held.filter(({ review }) => review !== 'denied'),
    'pending',
  )
  const credited = held.filter(({ status }) => status === 'complete')
  await revertCredits(tx, nowMs, 'transfer', credited.map(depositOf))
}

const transferOf =
  (nowMs: number, block: ObservedBlock) =>
  ({ token, ordinal, at, review, ...arrival }: ScreenedArrival): PlacedTransfer => ({
    entityId: arrival.entityId,
    id: newId(nowMs),
    direction: 'in',
    status: review === 'denied' ? 'failed' : 'pending',
    walletId: merchantWalletIdOf(arrival.entityId),
    chain: at.chain,
    blockchain: at.blockchain,
    fromAddress: arrival.fromAddress,
    toAddress: at.address,
    currency: token.currency,
    tokenId: token.id,
    decimals: token.decimals,
    amount: arrival.amount,
    transactionHash: arrival.txHash,
    errorCode: review === 'denied' ? deniedCode : null,
    riskReason: null,
    waiting: null,
    review,
    createDate: formatInstant(nowMs),
    updateDate: formatInstant(nowMs),
    ordinal,
    blockHash: block.hash,
    blockNumber: block.number,
  })

const depositOf = (transfer: Transfer): Deposit => ({ ...transfer, depositAddress: transfer.toAddress })

export const recordIncoming = (
  tx: Db,
  nowMs: number,
  transfers: readonly Transfer[],
  status: 'pending' | 'running' | 'complete' | 'failed',
) =>
  recordChanges(
    tx,
    nowMs,
    transfers.map(({ entityId, id: resourceId, currency, amount, transactionHash }) => {
      const data = { status, currency, amount: String(amount), transactionHash }
      return { entityId, actor, type: `transfer.${status}`, resourceId, data }
    }),
  )
