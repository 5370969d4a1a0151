/**
 * Sends recorded payments. The treasury of the entity pays for the gas; its transaction has the id of the payment, and both commit in
 * one `tx`, so that a restart neither loses nor repeats one.
 */

import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { isHalted } from '#engines/indexer/index'
import { announceWork } from '#engines/transactions/index'
import {
  type GasFaucet,
  openEntityPayer,
  submitPlatformCall,
  type TreasuryRow,
} from '#engines/treasury/index'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Turn } from '#runtime/turns/store'
import { paymentCallOf } from './payment-call.ts'
import { refusePayment } from './refuse.ts'
import {
  authorizationOf,
  duePayments,
  lockDue,
  markPaymentSubmitted,
  type PaymentRef,
  type PaymentRow,
  postponePayments,
  unsentInTime,
} from './store.ts'
import { isExpiring } from './verify.ts'

/** Number of payments that are sent in one round. */
const batchMax = 32

/** Sends payments of a chain that are due; returns whether there may be more. */
export async function submitPayments(
  ctx: EngineCtx,
  chain: Chain,
  turn: Turn,
  gasFaucet: GasFaucet | undefined,
): Promise<boolean> {
  const { blockchain } = chain.network
  if (await isHalted(ctx.database, blockchain)) return false
  const due = await duePayments(ctx.database, turn, blockchain, batchMax)
  let submitted = 0
  // The treasury of one entity must not stop the others.
  for (const [entityId, own] of byEntity(due))
    submitted += await submitOwn(ctx, chain, entityId, own, gasFaucet).catch(async (error) => {
      ctx.log.error({ err: error, entityId, blockchain }, 'cannot settle signed payments yet; will retry')
      await postponePayments(ctx.database, entityId, own, retryMs)
      return 0
    })
  if (submitted > 0) await announceWork(ctx.database, blockchain)
  return submitted > 0 || due.length === batchMax
}

const retryMs = 2_000

function byEntity(due: readonly PaymentRef[]): Map<string, string[]> {
  const ids = new Map<string, string[]>()
  for (const { entityId, id } of due) ids.set(entityId, [...(ids.get(entityId) ?? []), id])
  return ids
}

/**
 * Sends payments of one entity, each in a `tx` of its own, so that one that cannot be sent takes no other back; returns how many.
 * Without gas they wait.
 */
async function submitOwn(
  ctx: EngineCtx,
  chain: Chain,
  entityId: string,
  ids: readonly string[],
  gasFaucet: GasFaucet | undefined,
): Promise<number> {
  const treasury = await openEntityPayer(ctx, entityId, chain, gasFaucet)
  if (!treasury) await postponePayments(ctx.database, entityId, ids, retryMs)
  let count = 0
  for (const id of ids) {
    const isSent = await ctx.database.tx(async (tx) => {
      const payment = await lockDue(tx, { entityId, id })
      if (!payment) return false
      const expired = isExpiring(ctx, chain, payment) ? 'it was not sent before it expired' : undefined
      const refusal = payment.isLate ? unsentInTime : expired
      if (refusal !== undefined) await refusePayment(ctx, tx, payment, refusal)
      else if (treasury) await submitOne(ctx, tx, chain, treasury, payment)
      failpoint('before-payment-commit')
      return refusal === undefined && treasury !== undefined
    })
    if (isSent) count += 1
    if (isSent) failpoint('after-payment-commit')
  }
  return count
}

async function submitOne(
  ctx: EngineCtx,
  tx: Db,
  chain: Chain,
  treasury: TreasuryRow,
  payment: PaymentRow,
): Promise<void> {
  const { id } = payment
  const signed = authorizationOf(payment)
  await submitPlatformCall(ctx, tx, chain, treasury, {
    actor: 'facilitator',
    requestId: id,
    id,
    refId: `x402 ${id}`,
    gasMax: signed.gasMax,
    call: paymentCallOf(chain, signed),
  })
  await markPaymentSubmitted(tx, ctx.clock.nowMs(), payment)
}
