import { decideSettlement, reserveSettlement, type SettlementTerms } from '#custody/settlements/index'
import { shareLists } from '#engines/compliance/lists/index'
import { requireKnownParties, ruleAgainst } from '#engines/compliance/payments/index'
import type { Ctx } from '#engines/ctx'
import { announceWork, requireNotHalted } from '#engines/transactions/index'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { isSamePermit, refusalOfPermitRevert } from './permits.ts'
import { refusedByPolicy, settlementTerms } from './policy.ts'
import { type PaymentRefusal, refusalOfRevert, refusedFor } from './reasons.ts'
import { refuseIfLate } from './refuse.ts'
import {
  answerSettled,
  authorizationOf,
  findIdentifiedPayment,
  findPaymentOf,
  findSignedPayment,
  insertPayment,
  releaseIdentifier,
  type SettledPayment,
  type SignedPayment,
} from './store.ts'
import { isSignedByKey, type OfferedPayment, refusedOffer } from './verify.ts'
import { verifyOffered } from './verify-offered.ts'
import { waitForPayment } from './wait.ts'

/** `pending`: it may still be settled, and must not be paid again. */
export type Settlement =
  | { state: 'settled'; id: string; txHash: string }
  | { state: 'pending'; id: string; txHash: string | undefined }
  | { state: 'refused'; id: string | undefined; txHash?: string; refusal: PaymentRefusal }

/** Longest time that a request waits for a block. */
const settledWithinMs = 20_000
const waitMsOf = ({ required }: OfferedPayment) =>
  Math.min(settledWithinMs, required.withinMs ?? settledWithinMs)

/**
 * Settles a payment once, however often it is asked for: the authorization is recorded before its transaction, and a repeated request
 * waits for the same one. Of several deliveries for one payment a single one is answered that it is settled, or else a payer could
 * have two for it. Throws `unavailable` and `chainHalted` before anything is recorded.
 */
export async function settlePayment(
  ctx: Ctx,
  offered: OfferedPayment,
  deliveryId: string,
): Promise<Settlement> {
  const recorded = () => recordedPayment(ctx, offered)
  const known = await recorded()
  if (known) return settlementOf(ctx, known, offered, deliveryId)
  const refusal = await recordPayment(ctx, offered)
  // Of two requests at once the first one records the payment, and its transaction lets the other one fail.
  const payment = await recorded()
  if (payment) return settlementOf(ctx, payment, offered, deliveryId)
  return { state: 'refused', id: undefined, refusal: refusal! }
}

/** The payment of the authorization, or else that of what the payer pays for. */
async function recordedPayment(ctx: Ctx, { signed, identifier }: OfferedPayment) {
  const { id: entityId } = ctx.entity
  const found = await findPaymentOf(ctx.database, entityId, signed)
  if (found || identifier === undefined) return found
  const named = await findIdentifiedPayment(ctx.database, entityId, signed.from, identifier)
  return named && canBeNamedAnew(ctx, named) ? undefined : named
}

/** Whether a payment has failed, and can be made no more by its authorization: until then both could be paid. */
const canBeNamedAnew = ({ clock }: Ctx, payment: SettledPayment): boolean =>
  shownSettlement(payment).state === 'refused' && payment.validBefore * 1000n < BigInt(clock.nowMs())

/** Records a payment for the worker, unless there is a reason against it. */
async function recordPayment(ctx: Ctx, offered: OfferedPayment): Promise<PaymentRefusal | undefined> {
  const verified = await verifyOffered(ctx, offered, 'estimated')
  if ('reason' in verified) return verified
  const { blockchain } = verified
  await requireKnownParties(ctx, verified)
  const terms = await settlementTerms(offered.chain, verified)
  const denied = await ctx.database.tx(async (tx) => {
    await requireNotHalted(tx, blockchain)
    const found = await denialOf(ctx, tx, verified)
    if (found) return found
    const decision = await decideSettlement({ ...ctx, db: tx }, terms)
    if (decision.denial) return refusedByPolicy(decision.denial)
    await insertOwn({ ...ctx, db: tx }, verified, offered, { terms, policyVersions: decision.versionIds })
    return undefined
  })
  if (!denied) await announceWork(ctx.database, blockchain)
  return denied
}

type Permission = { terms: SettlementTerms; policyVersions: readonly string[] }

/** Records a payment and who asked for it, and reserves what it takes of limits, unless another request was first. */
async function insertOwn(
  ctx: Ctx,
  payment: SignedPayment,
  offered: OfferedPayment,
  { terms, policyVersions }: Permission,
): Promise<void> {
  const { actor, requestId, entity, db: tx } = ctx
  const nowMs = ctx.clock.nowMs()
  const id = newId(nowMs)
  const { identifier } = offered
  const named = identifier && (await findIdentifiedPayment(tx, entity.id, payment.from, identifier))
  if (named && canBeNamedAnew(ctx, named)) await releaseIdentifier(tx, named)
  const own = { entityId: entity.id, id, withinMs: waitMsOf(offered), identifier }
  if ((await insertPayment(tx, nowMs, own, payment)) === 0) return
  if (payment.amountAtomic > 0n) await reserveSettlement(ctx, id, terms)
  const { blockchain, token, from, to, amountAtomic } = payment
  const amount = amountAtomic.toString()
  const data = { blockchain, token, payer: from, payee: to, amountAtomic: amount, policyVersions }
  // A payment of nothing is settled by its record.
  const types = ['requested', ...(amountAtomic === 0n ? ['settled'] : [])]
  await recordChanges(
    tx,
    nowMs,
    types.map((type) => {
      return { entityId: entity.id, actor, requestId, type: `x402Payment.${type}`, resourceId: id, data }
    }),
  )
}

/** The refusal of a payment whose payer or payee screening denies. No list changes before the `tx` ends. */
async function denialOf(ctx: Ctx, tx: Db, payment: SignedPayment): Promise<PaymentRefusal | undefined> {
  await shareLists(tx)
  const rule = await ruleAgainst({ ...ctx, db: tx }, payment)
  return rule && refusedFor('screening_denied', rule.name)
}

/** The settlement of a recorded payment, once a block has it or the time of a request is over. */
async function settlementOf(
  ctx: Ctx,
  payment: SettledPayment,
  offered: OfferedPayment,
  deliveryId: string,
): Promise<Settlement> {
  const { id } = payment
  const { signed, required } = offered
  const unlike = refusedOffer(signed, required) ?? (await refusalOfOther(authorizationOf(payment), offered))
  if (unlike) return { state: 'refused', id, refusal: unlike }
  const found = await untilDecided(ctx, payment, waitMsOf(offered))
  const settlement = shownSettlement(found)
  // The answer is another one's where this client has left.
  if (settlement.state !== 'settled' || ctx.isWaitedFor?.() === false) return settlement
  if (await answerSettled(ctx.database, found, deliveryId)) return settlement
  return { state: 'refused', id, txHash: settlement.txHash, refusal: refusedFor('duplicate_settlement') }
}

const isPending = (payment: SettledPayment) => shownSettlement(payment).state === 'pending'

/**
 * The payment once it is decided, or as it is when the time is over or the client has left. A payment that has no transaction by its
 * time is refused for good: its buyer is turned away, and must not be charged later.
 */
async function untilDecided(ctx: Ctx, payment: SettledPayment, withinMs: number): Promise<SettledPayment> {
  const endMs = performance.now() + withinMs
  const hasEnded = (found: SettledPayment) => !isPending(found) || ctx.isWaitedFor?.() === false
  const found = await waitForPayment(ctx.database, payment, endMs, hasEnded)
  if (!isPending(found) || found.submitDate !== null) return found
  await refuseIfLate(ctx, found).catch(() => {})
  return (await findSignedPayment(ctx.database, found.entityId, found.id).catch(() => undefined)) ?? found
}

/**
 * The refusal of what is offered where it is not what was recorded: a number of a payer may come with other terms, and a signature
 * of others. A payer that signs anew what it pays for already, by its identifier, is answered for the first payment.
 */
async function refusalOfOther(
  recorded: SignedPayment,
  { chain, signed }: OfferedPayment,
): Promise<PaymentRefusal | undefined> {
  const isAlike = (['blockchain', 'token', 'from', 'to', 'amountAtomic'] as const).every(
    (term) => recorded[term] === signed[term],
  )
  if (recorded.nonce !== signed.nonce || recorded.from !== signed.from)
    return isAlike && (await isSignedByKey(chain, signed))
      ? undefined
      : refusedFor('payment_identifier_conflict')
  const isSame = (['validAfter', 'validBefore', 'signature'] as const).every(
    (term) => recorded[term] === signed[term],
  )
  if (isAlike && isSame && isSamePermit(recorded.permit, signed.permit)) return undefined
  return refusedFor(signed.permit ? 'permit2_invalid_nonce' : 'invalid_exact_evm_nonce_already_used')
}

const isMined = (state: string | null) => state === 'CONFIRMED' || state === 'COMPLETE'
const hasFailed = (state: string | null) => state === 'FAILED' || state === 'DENIED' || state === 'CANCELLED'

/** Whether the block that has the payment is final; a payment of nothing needs none. */
export const isFinal = ({ state, amount }: SettledPayment): boolean => state === 'COMPLETE' || amount === 0n

/** The settlement as its transaction stands. */
export function shownSettlement(payment: SettledPayment): Settlement {
  const { id, state, txHash, refusal: unsent, errorDetails, errorReason, permitScheme } = payment
  const failed =
    permitScheme === 'upto' ? 'invalid_upto_evm_transaction_failed' : 'invalid_exact_evm_transaction_failed'
  if (payment.amount === 0n) return { state: 'settled', id, txHash: '' }
  if (unsent !== null) return { state: 'refused', id, refusal: refusedFor(failed, unsent) }
  if (isMined(state) && txHash !== null) return { state: 'settled', id, txHash }
  if (!hasFailed(state)) return { state: 'pending', id, txHash: txHash ?? undefined }
  const why = errorDetails ?? errorReason ?? String(state)
  const refusalOf = permitScheme === null ? refusalOfRevert : refusalOfPermitRevert
  return { state: 'refused', id, refusal: refusalOf(why, failed) }
}
