/**
 * Turns observed transfers to the deposit addresses of payment intents into payments, block by block: `pending` when a block
 * holds the transfer, then `confirmed` and `paid` when the block has its confirmations. An orphaned block returns its
 * payments to `pending`; a payment that no later block includes fails.
 */
import type { Network } from '#chains/networks/index'
import { withdrawReviews } from '#engines/compliance/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { type Change, recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { merchantWalletIdOf } from '../merchant-wallet.ts'
import { creditIntents } from '../payment-intents/credit-payment-intents.ts'
import { lockPaymentIntents } from '../payment-intents/store.ts'
import { takesMoney } from '../payment-intents/timeline.ts'
import { reviewDeposits, type ScreenedArrival } from './screen-arrivals.ts'
import {
  finalPayments,
  type KeyedPayment,
  lostPayments,
  orphan,
  type Payment,
  paymentsOfBlock,
  savePending,
  setStatus,
} from './store/payments.ts'
import type { FollowedBlock, ObservedBlock } from './types.ts'
import { creditWallets, revertCredits } from './wallet-credits.ts'

/**
 * Records the payments of a block, and settles the payments that now have their confirmations. Payments orphaned from blocks
 * up to `lostTo` fail.
 */
export async function applyPayments(
  tx: Db,
  nowMs: number,
  network: Network,
  block: FollowedBlock,
  arrivals: readonly ScreenedArrival[],
): Promise<void> {
  const seen = await savePayments(tx, nowMs, network, block, arrivals)
  await reviewDeposits(tx, nowMs, 'payment', arrivals, seen)
  for (const status of ['pending', 'failed'] as const)
    await recordPayments(
      tx,
      nowMs,
      seen.filter((payment) => payment.status === status),
      status,
    )
  await settlePayments(tx, nowMs, network.blockchain, block.completeTo)
  const lost = await lostPayments(tx, network.blockchain, block.lostTo)
  await setStatus(tx, lost, 'failed', formatInstant(nowMs))
  await withdrawReviews(tx, nowMs, lost)
  await recordPayments(tx, nowMs, lost, 'failed')
}

/** Settles the payments in blocks up to `completeTo` that no review keeps from it. */
export async function settlePayments(
  tx: Db,
  nowMs: number,
  blockchain: string,
  completeTo: number,
): Promise<void> {
  const final = await finalPayments(tx, blockchain, completeTo)
  // Both steps are reported, each with a date of its own, even where one block is all the confirmations.
  for (const step of ['confirmed', 'paid'] as const) {
    await setStatus(tx, final, step, formatInstant(nowMs))
    await recordPayments(tx, nowMs, final, step)
  }
  await creditIntents(tx, nowMs, final, 1n)
  await creditWallets(tx, nowMs, 'payment', final)
}

/** Reverts the payments of an orphaned block, and their credits. */
export async function revertPayments(
  tx: Db,
  nowMs: number,
  blockchain: string,
  block: ObservedBlock,
): Promise<void> {
  const held = await paymentsOfBlock(tx, blockchain, block.hash)
  if (held.length === 0) return
  await orphan(tx, held, block.hash, formatInstant(nowMs))
  await recordPayments(
    tx,
    nowMs,
    held.filter(({ review }) => review !== 'denied'),
    'orphaned',
  )
  const settled = held.filter((payment) => payment.status === 'paid')
  await creditIntents(tx, nowMs, settled, -1n)
  await revertCredits(tx, nowMs, 'payment', settled)
}

async function savePayments(
  tx: Db,
  nowMs: number,
  network: Network,
  block: ObservedBlock,
  arrivals: readonly ScreenedArrival[],
): Promise<Payment[]> {
  const keys = arrivals.flatMap(({ at: { entityId, paymentIntentId: id } }) =>
    id === null ? [] : [{ entityId, id }],
  )
  if (keys.length === 0) return []
  const intents = new Map((await lockPaymentIntents(tx, keys)).map((intent) => [intent.id, intent]))
  const createDate = formatInstant(nowMs)
  const payments = arrivals.flatMap(({ ordinal, token, at, ...deposit }): KeyedPayment[] => {
    if (at.paymentIntentId === null) return []
    const intent = intents.get(at.paymentIntentId)
    const matches = intent?.currency === token.currency && takesMoney(intent, nowMs)
    return [
      {
        entityId: deposit.entityId,
        id: newId(nowMs),
        type: 'payment',
        status: deposit.review === 'denied' ? 'failed' : 'pending',
        paymentIntentId: matches ? intent.id : null,
        merchantWalletId: merchantWalletIdOf(deposit.entityId),
        currency: token.currency,
        decimals: token.decimals,
        amount: deposit.amount,
        chain: at.chain,
        blockchain: network.blockchain,
        fromAddress: deposit.fromAddress,
        depositAddress: at.address,
        transactionHash: deposit.txHash,
        tokenId: deposit.tokenId,
        ordinal,
        blockHash: block.hash,
        blockNumber: block.number,
        review: deposit.review,
        riskReason: null,
        waiting: null,
        createDate,
        updateDate: createDate,
      },
    ]
  })
  return savePending(tx, payments)
}

export async function recordPayments(
  tx: Db,
  nowMs: number,
  payments: readonly Payment[],
  happened: 'pending' | 'confirmed' | 'paid' | 'failed' | 'orphaned',
): Promise<void> {
  const changes = payments.map((payment): Change => {
    const { entityId, id: resourceId, paymentIntentId, currency, amount, transactionHash } = payment
    const data = {
      paymentIntentId,
      currency,
      amount: String(amount),
      transactionHash,
      blockHash: payment.blockHash,
    }
    return { entityId, actor, type: `payment.${happened}`, resourceId, data }
  })
  await recordChanges(tx, nowMs, changes)
}
