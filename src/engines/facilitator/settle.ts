import { setTimeout as sleep } from 'node:timers/promises'
import { screenRecipients } from '#engines/compliance/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { Ctx } from '#engines/ctx'
import { announceWork, requireNotHalted } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { type PaymentRefusal, refusalOfRevert, refusedFor } from './reasons.ts'
import {
  answerSettled,
  authorizationOf,
  findPaymentOf,
  findSignedPayment,
  insertPayment,
  type SettledPayment,
  type SignedPayment,
} from './store.ts'
import { type OfferedPayment, refusedOffer, verifyPayment } from './verify.ts'

/** `pending`: it may still be settled, and must not be paid again. */
export type Settlement =
  | { state: 'settled'; id: string; txHash: string; blockchain: string }
  | { state: 'pending'; id: string; txHash: string | undefined; blockchain: string }
  | { state: 'refused'; id: string | undefined; txHash?: string; refusal: PaymentRefusal }

/** Longest time that a request waits for a block. */
const settledWithinMs = 20_000
const firstLookMs = 15
const longestLookMs = 500

/**
 * Settles a payment once, however often it is asked for: the authorization is recorded before its transaction, and a repeated request
 * waits for the same one. Of several requests for one payment a single one is answered that it is settled, or else a payer could
 * have two deliveries for it. Throws `paymentOfAnother` where another entity of this server settles it, and `unavailable`.
 */
export async function settlePayment(ctx: Ctx, offered: OfferedPayment): Promise<Settlement> {
  const known = await findPaymentOf(ctx.database, offered.signed)
  if (known) return settlementOf(ctx, known, offered)
  const verified = await verifyPayment(ctx, offered)
  if ('reason' in verified) return { state: 'refused', id: undefined, refusal: verified }
  const { id: entityId } = ctx.entity
  const nowMs = ctx.clock.nowMs()
  const denied = await ctx.database.onBehalfOf(entityId).tx(async (tx) => {
    await requireNotHalted(tx, verified.blockchain)
    const found = await denialOf(ctx, tx, verified)
    if (!found) await insertPayment(tx, nowMs, { entityId, id: newId(nowMs) }, verified)
    return found
  })
  if (denied) return { state: 'refused', id: undefined, refusal: denied }
  await announceWork(ctx.database, verified.blockchain)
  // Of two requests at once the first one records the payment.
  return settlementOf(ctx, (await findPaymentOf(ctx.database, verified))!, offered)
}

/** The refusal of a payment whose payer or payee screening denies. No list changes before the `tx` ends. */
async function denialOf(
  ctx: Ctx,
  tx: Db,
  { blockchain, from, to }: SignedPayment,
): Promise<PaymentRefusal | undefined> {
  await shareLists(tx)
  const parties = [from, to].map((address) => ({ blockchain, address }))
  const [decision] = await screenRecipients({ ...ctx, db: tx }, [parties])
  return decision!.actions.includes('APPROVE')
    ? undefined
    : refusedFor('screening_denied', decision!.ruleName)
}

/** The settlement of a recorded payment, once a block has it or the time of a request is over. */
async function settlementOf(
  ctx: Ctx,
  payment: SettledPayment,
  { signed, required }: OfferedPayment,
): Promise<Settlement> {
  const { id: entityId } = ctx.entity
  if (payment.entityId !== entityId) throw new ApiError('paymentOfAnother')
  const { id } = payment
  const unlike =
    refusedOffer(signed, required) ??
    (isSame(authorizationOf(payment), signed)
      ? undefined
      : refusedFor('invalid_exact_evm_nonce_already_used'))
  if (unlike) return { state: 'refused', id, refusal: unlike }
  const endMs = performance.now() + settledWithinMs
  let [found, pauseMs] = [payment, firstLookMs]
  while (shownSettlement(found).state === 'pending' && performance.now() < endMs) {
    await sleep(pauseMs)
    pauseMs = Math.min(2 * pauseMs, longestLookMs)
    found = (await findSignedPayment(ctx.database.readingFor(entityId), entityId, payment.id)) ?? found
  }
  const settlement = shownSettlement(found)
  if (settlement.state !== 'settled') return settlement
  if (await answerSettled(ctx.database.onBehalfOf(entityId), found, ctx.requestId)) return settlement
  return { state: 'refused', id, txHash: settlement.txHash, refusal: refusedFor('duplicate_settlement') }
}

/** Whether what is offered is what was recorded: a number of a payer may come with other terms, and a signature of others. */
const isSame = (recorded: SignedPayment, offered: OfferedPayment['signed']): boolean =>
  recorded.to === offered.to &&
  recorded.amountAtomic === offered.amountAtomic &&
  recorded.validAfter === offered.validAfter &&
  recorded.validBefore === offered.validBefore &&
  recorded.signature === offered.signature

const isMined = (state: string | null) => state === 'CONFIRMED' || state === 'COMPLETE'
const hasFailed = (state: string | null) => state === 'FAILED' || state === 'DENIED' || state === 'CANCELLED'

/** The settlement as its transaction stands. */
export function shownSettlement(payment: SettledPayment): Settlement {
  const { id, state, txHash, blockchain, refusal: unsent, errorDetails, errorReason } = payment
  if (unsent !== null) return { state: 'refused', id, refusal: refusalOfRevert(unsent) }
  if (isMined(state) && txHash !== null) return { state: 'settled', id, txHash, blockchain }
  if (!hasFailed(state)) return { state: 'pending', id, txHash: txHash ?? undefined, blockchain }
  const why = errorDetails ?? errorReason ?? String(state)
  return { state: 'refused', id, refusal: refusalOfRevert(why, 'invalid_exact_evm_transaction_failed') }
}
