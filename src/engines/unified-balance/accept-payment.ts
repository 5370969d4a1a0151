/**
 * Accepts payments of unified balances: one `tx` records the authorization and reserves its amount, and only then a seller is told to
 * deliver. What is repeated gets the same answer, for the same delivery alone.
 */
import type { Address } from '#chains/addresses/types'
import { authorizationsOn } from '#chains/facets/optional'
import { attestationKeyInUse } from '#custody/installation/index'
import { shareLists } from '#engines/compliance/lists/index'
import { requireKnownParties, ruleAgainst } from '#engines/compliance/payments/index'
import type { EngineCtx } from '#engines/ctx'
import { announceWork, requireNotHalted } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { keptFor, oncePer } from '#runtime/scheduling/memoize'
import { tokenSymbol, type UnifiedChain } from './networks.ts'
import { type UnifiedPaymentRefusal, unifiedRefusal } from './payment-refusals.ts'
import { addChange, availableOf, type Changes, takeAvailable } from './store/balances.ts'
import {
  type AuthorizedPayment,
  countWaiting,
  findPaymentFor,
  insertUnifiedPayment,
  paymentsAreLate,
  type UnifiedPayment,
} from './store/payments.ts'

/** A payment as its payer signed it, and the payment that is required. */
export type OfferedUnifiedPayment = AuthorizedPayment & {
  unified: UnifiedChain
  required: { payTo: Address; amountAtomic: bigint }
}

/** Seconds that an authorization must be valid yet, so that it is part of a batch before it expires. */
const leastValidSeconds = 600n

/** Checks a payment, and changes nothing. */
export async function verifyUnifiedPayment(
  ctx: EngineCtx & { db: Db },
  offered: OfferedUnifiedPayment,
): Promise<UnifiedPaymentRefusal | undefined> {
  const refusal = (await refusedTerms(ctx, offered)) ?? (await denialOf(ctx, offered))
  if (refusal) return refusal
  if (await findPaymentFor(ctx.db, offered)) return unifiedRefusal('nonce_already_used')
  await requireSettling(ctx, offered.unified)
  const { blockchain, signed } = offered
  const [balance] = await availableOf(ctx.db, [{ blockchain, depositor: signed.from }])
  const availableAtomic = balance?.availableAtomic ?? 0n
  return availableAtomic < signed.amountAtomic ? insufficient(offered, availableAtomic) : undefined
}

/**
 * Accepts a payment for a delivery, once. Throws `unavailable` and `chainHalted` before anything is recorded.
 */
export async function acceptUnifiedPayment(
  ctx: EngineCtx,
  offered: OfferedUnifiedPayment,
  deliveryId: string,
): Promise<UnifiedPayment | UnifiedPaymentRefusal> {
  const { database } = ctx
  const known = await findPaymentFor(database, offered)
  if (known) return answerTo(known, offered, deliveryId)
  const refused = await refusedTerms(ctx, offered)
  if (refused) return refused
  await requireSettling({ ...ctx, db: database }, offered.unified)
  await requireKnownParties(ctx, termsOf(offered))
  const refusal = await database
    .tx((tx) => record({ ...ctx, db: tx }, offered, deliveryId))
    .catch((error) => {
      if (error instanceof Refused) return error.refusal
      throw error
    })
  failpoint('after-acceptance-commit')
  if (refusal) return refusal
  announceWhenDue(ctx, offered.blockchain)
  return answerTo((await findPaymentFor(database, offered))!, offered, deliveryId)
}

/** The chains of which this process wakes the workers next, when their first payment is due. */
const wakingOn = oncePer((_reading: Db) => new Set<string>())

/** Wakes the workers once a batch can be due: each notice wakes all loops of the chain. A lost one costs a polling interval. */
function announceWhenDue({ database, config }: EngineCtx, blockchain: string): void {
  // Requests have a database each, and share what they read through.
  const waking = wakingOn(database.reading)
  if (waking.has(blockchain)) return
  waking.add(blockchain)
  setTimeout(() => {
    waking.delete(blockchain)
    announceWork(database, blockchain).catch(() => undefined)
  }, config.paymentBatchMs).unref()
}

/** Contracts and keys change rarely, and every payment asks for them. */
const settling = keptFor<object, boolean>(60_000)
/** The most payments of a payer that wait for a batch, and the longest that any may have waited: more would expire unsettled. */
const waitingMax = 1_000
const latenessMaxMs = 300_000

/** Throws `unavailable` unless this server settles payments on the chain now, and is not behind with them. */
async function requireSettling({ db, config }: EngineCtx & { db: Db }, unified: UnifiedChain): Promise<void> {
  const { blockchain, chain, crosschain } = unified
  const key = config.crosschainEntity === undefined ? undefined : await attestationKeyInUse(db, 'balance')
  const isReady =
    key !== undefined &&
    (await settling(chain.shared, () => crosschain.settlesPayments(key.address as Address)).catch(
      () => false,
    ))
  if (!isReady)
    throw new ApiError(
      'unavailable',
      `This server does not settle payments of unified balances on ${blockchain} now. Nothing was accepted.`,
    )
  if (await paymentsAreLate(db, blockchain, latenessMaxMs))
    throw new ApiError(
      'unavailable',
      `Payments of unified balances on ${blockchain} wait for their settlement too long: ask again later. Nothing was accepted.`,
    )
}

/** Rolls a `tx` back with its refusal. */
class Refused extends Error {
  readonly refusal: UnifiedPaymentRefusal
  constructor(refusal: UnifiedPaymentRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Records a payment and reserves its amount; the refusal of one that may not be paid. */
async function record(
  ctx: EngineCtx & { db: Db },
  offered: OfferedUnifiedPayment,
  deliveryId: string,
): Promise<UnifiedPaymentRefusal | undefined> {
  const { db: tx, config } = ctx
  const { blockchain, signed } = offered
  await requireNotHalted(tx, blockchain)
  // No list changes before the `tx` ends.
  await shareLists(tx)
  const denial = await denialOf(ctx, offered)
  if (denial) return denial
  const nowMs = ctx.clock.nowMs()
  if ((await countWaiting(tx, offered, waitingMax)) >= waitingMax)
    throw new ApiError(
      'unavailable',
      `${waitingMax} payments of this payer wait for their settlement: ask again in a moment. Nothing was accepted.`,
    )
  const row = { id: newId(nowMs), deliveryId, dueInMs: config.paymentBatchMs }
  // Of two requests at once the second one finds the payment of the first.
  if (!(await insertUnifiedPayment(tx, nowMs, row, offered))) return undefined
  const taken: Changes = new Map()
  addChange(taken, { blockchain, depositor: signed.from }, signed.amountAtomic)
  const missing = await takeAvailable(tx, taken)
  if (missing) throw new Refused(insufficient(offered, missing.availableAtomic))
  failpoint('before-acceptance-commit')
  return undefined
}

const insufficient = ({ unified, signed }: OfferedUnifiedPayment, availableAtomic: bigint) =>
  unifiedRefusal(
    'insufficient_balance',
    `It has ${formatAmount(availableAtomic, unified.decimals)} ${tokenSymbol}, and pays ${formatAmount(signed.amountAtomic, unified.decimals)}.`,
  )

/** The payment for the delivery that was answered first, with its own terms alone. */
function answerTo(
  payment: UnifiedPayment,
  { signed, required }: OfferedUnifiedPayment,
  deliveryId: string,
): UnifiedPayment | UnifiedPaymentRefusal {
  const isSame =
    payment.payee === signed.to &&
    payment.amountAtomic === signed.amountAtomic &&
    payment.payee === required.payTo &&
    payment.amountAtomic === required.amountAtomic
  return isSame && payment.deliveryId === deliveryId ? payment : unifiedRefusal('nonce_already_used')
}

/** The refusal by what needs no node: terms, times and signature. */
async function refusedTerms(
  { clock }: EngineCtx,
  { unified, signed, signature, required }: OfferedUnifiedPayment,
): Promise<UnifiedPaymentRefusal | undefined> {
  if (signed.to !== required.payTo) return unifiedRefusal('address_mismatch')
  if (signed.amountAtomic !== required.amountAtomic) return unifiedRefusal('amount_mismatch')
  if (signed.amountAtomic === 0n) return unifiedRefusal('invalid_amount')
  if (signed.from === signed.to) return unifiedRefusal('self_transfer')
  const now = BigInt(Math.floor(clock.nowMs() / 1000))
  if (signed.validAfter > now) return unifiedRefusal('authorization_not_yet_valid')
  if (signed.validBefore <= now) return unifiedRefusal('authorization_expired')
  if (signed.validBefore < now + leastValidSeconds) return unifiedRefusal('authorization_validity_too_short')
  const separator = unified.crosschain.paymentsSeparator()
  const signer = await authorizationsOn(unified.chain).signerOf(separator, signed, signature)
  return signer === signed.from ? undefined : unifiedRefusal('invalid_signature')
}

const termsOf = ({ blockchain, signed: { from, to } }: OfferedUnifiedPayment) => ({ blockchain, from, to })

/** The refusal of a payment whose payer or payee screening denies. */
async function denialOf(
  ctx: EngineCtx & { db: Db },
  offered: OfferedUnifiedPayment,
): Promise<UnifiedPaymentRefusal | undefined> {
  const rule = await ruleAgainst(ctx, termsOf(offered))
  return rule && unifiedRefusal('screening_denied', rule.name)
}
