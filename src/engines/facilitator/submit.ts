/**
 * Sends recorded payments. The treasury of the entity pays for the gas; its transaction has the id of the payment, and both commit in
 * one `tx`, so that a restart neither loses nor repeats one.
 */

import type { Chain } from '#chains/chain'
import { authorizationsOn } from '#chains/facets/optional'
import type { EngineCtx } from '#engines/ctx'
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
import {
  authorizationOf,
  duePayments,
  lockDue,
  markPaymentSubmitted,
  type PaymentRef,
  type PaymentRow,
  postponePayments,
  refusePayment,
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
  return due.length === batchMax
}

const retryMs = 2_000

function byEntity(due: readonly PaymentRef[]): Map<string, string[]> {
  const ids = new Map<string, string[]>()
  for (const { entityId, id } of due) ids.set(entityId, [...(ids.get(entityId) ?? []), id])
  return ids
}

/** Sends payments of one entity; returns how many. Without gas they wait, until their authorizations expire. */
async function submitOwn(
  ctx: EngineCtx,
  chain: Chain,
  entityId: string,
  ids: readonly string[],
  gasFaucet: GasFaucet | undefined,
): Promise<number> {
  const treasury = await openEntityPayer(ctx, entityId, chain, gasFaucet)
  const count = await ctx.database.tx(async (tx) => {
    const payments = await lockDue(tx, entityId, ids)
    const [late, ready] = [
      payments.filter((payment) => isExpiring(ctx, payment)),
      payments.filter((payment) => !isExpiring(ctx, payment)),
    ]
    for (const { id } of late) await refusePayment(tx, { entityId, id }, expiredUnsent)
    if (!treasury) await postponePayments(tx, entityId, idsOf(ready), retryMs)
    for (const payment of treasury ? ready : []) await submitOne(ctx, tx, chain, treasury!, payment)
    failpoint('before-payment-commit')
    return treasury ? ready.length : 0
  })
  if (count > 0) failpoint('after-payment-commit')
  return count
}

const expiredUnsent = 'authorization is expired: the treasury of this server had no gas to send it in time'
const idsOf = (payments: readonly PaymentRef[]) => payments.map(({ id }) => id)

async function submitOne(
  ctx: EngineCtx,
  tx: Db,
  chain: Chain,
  treasury: TreasuryRow,
  payment: PaymentRow,
): Promise<void> {
  const { id } = payment
  const { token, ...signed } = authorizationOf(payment)
  const { authorizedPayment } = authorizationsOn(chain)
  await submitPlatformCall(ctx, tx, chain, treasury, {
    actor: 'facilitator',
    requestId: id,
    id,
    refId: `x402 ${id}`,
    call: { ...authorizedPayment(token, signed, signed.signature, signed.isOfKey), to: token },
  })
  await markPaymentSubmitted(tx, ctx.clock.nowMs(), payment)
}
