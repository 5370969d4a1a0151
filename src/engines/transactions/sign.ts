import type { Chain } from '#chains/chain'
import { contractsOn } from '#chains/facets/optional'
import type { Signature, UnsignedTransaction } from '#chains/facets/payments'
import { isFrozen, WalletFrozen } from '#custody/freezes/index'
import { SecondPayload, signForIntents, signWithPlatformKey } from '#custody/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { bytesOf, type Hex } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Turn } from '#runtime/turns/store'
import { type CoveredPlan, coverFees } from './cover-fees.ts'
import { type Failure, failUnsentTransactions } from './fail-unsent.ts'
import { callOf, intentBytes } from './intent.ts'
import { newLife, termsOfLife } from './new-life.ts'
import { type Plan, planWaiting, type Ready } from './plan.ts'
import { readIssuers } from './read-issuers.ts'
import { screenUnsigned } from './screen.ts'
import { type SignBatch, type SigningOutcome, signRound, throwRefusal } from './signing-round.ts'
import {
  insertAttempts,
  type Life,
  lockNonces,
  type NewAttempt,
  type NonceState,
  nonceState,
} from './store/attempts.ts'
import type { Sponsor } from './store/sponsors.ts'
import { markQueued, type Ref, type WaitingTransaction, waitingOf } from './store/transactions.ts'

/** Signs one round of transactions of keys. */
export const signWaiting = (ctx: EngineCtx, chain: Chain, turn: Turn, onSigned: () => void) =>
  signRound(ctx, chain, turn, { ofAccounts: false, signBatch }, onSigned)

const signBatch: SignBatch = async (ctx, chain, { entityId, address }, limit, unsignable) => {
  const { blockchain } = chain.network
  const sender = { entityId, address }
  if (await isFrozen(ctx.database, { ...sender, blockchain })) return 'blocked'
  const [chainNonce, inFlightMax] = await Promise.all([
    chain.lane.nonceOf?.(sender.address),
    chain.lane.inFlightMaxOf(sender.address),
  ])
  const roomIn = async (db: Db) => {
    const nonces = await nonceState(db, blockchain, sender, chainNonce)
    return { nonces, room: Math.min(limit, inFlightMax - nonces.open) }
  }
  // Simulates no more transactions than may be in flight.
  const { room: roomBefore } = await roomIn(ctx.database)
  if (roomBefore <= 0) return 'blocked'
  const waiting = await waitingOf(ctx.database, blockchain, sender, roomBefore, { lock: false })
  // Throws before anything is simulated while nothing can be signed.
  if (waiting.length > 0) await newLife(ctx, chain)
  const planned = await planWaiting(ctx, chain, waiting)
  if (planned.length === 0) return 'blocked'
  await readIssuers(ctx, chain, planned)
  const life = await newLife(ctx, chain)
  const plans = new Map(planned.map((plan) => [plan.row.id, plan]))
  const outcome = await ctx.database.tx(async (tx): Promise<SigningOutcome> => {
    if (!(await lockNonces(tx, blockchain, sender.address))) return 'busy'
    const { nonces, room } = await roomIn(tx)
    if (room <= 0) return 'blocked'
    // From here on no list changes: what is cleared now stays so until the signatures are durable.
    await shareLists(tx)
    const claimed = await waitingOf(tx, blockchain, sender, room, { lock: true })
    if (!(await screenUnsigned(tx, ctx, chain, claimed))) return 'advanced'
    const { ready, failed: unfit } = sortPlans(claimed, plans, unsignable)
    const { covered, uncovered } = await coverFees(tx, ctx, chain, ready)
    const failed = [
      ...unfit,
      ...(uncovered && nonces.open === 0 && covered.length === 0 ? feeNotCovered(uncovered) : []),
    ]
    await failUnsentTransactions(tx, ctx, failed)
    await signAll(tx, ctx, chain, covered, { nonces, chainNonce, life })
    failpoint('before-attempt-commit')
    return covered.length + failed.length > 0 ? 'advanced' : 'blocked'
  })
  if (outcome === 'advanced') failpoint('after-attempt-commit')
  return outcome
}

/** Sorts the plans of claimed transactions into those to sign and the failures of the others. */
export function sortPlans(
  claimed: readonly Ref[],
  plans: ReadonlyMap<string, Plan>,
  unsignable: ReadonlySet<string>,
): { ready: Ready[]; failed: Failure[] } {
  const chosen = claimed.flatMap(({ id }) => plans.get(id) ?? [])
  const refused = chosen.filter(({ row }) => unsignable.has(row.id))
  const others = chosen.filter((plan) => !refused.includes(plan))
  return {
    ready: others.filter((plan): plan is Ready => 'gasLimit' in plan),
    failed: [...others.flatMap(failureOf), ...refused.map(grantMissing)],
  }
}

const failureOf = (plan: Plan): Failure[] =>
  'failure' in plan ? [{ entityId: plan.row.entityId, id: plan.row.id, ...plan.failure }] : []

function feeNotCovered({ plan, ...why }: Pick<Failure, 'reason' | 'details'> & { plan: Ready }): Failure[] {
  const { entityId, id, ofTreasury } = plan.row
  return ofTreasury ? [] : [{ entityId, id, ...why }]
}

const grantMissing = ({ row }: Plan): Failure => ({
  entityId: row.entityId,
  id: row.id,
  reason: 'INTERNAL_ERROR',
  details: 'no valid grant to sign it; nothing was signed or sent: create the transaction again',
})

/** Assigns nonces by inserting the attempts that use them, with their signed bytes. Nothing is sent before this commits. */
async function signAll(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  plans: readonly CoveredPlan[],
  {
    nonces,
    chainNonce,
    life,
  }: { nonces: NonceState; chainNonce: number | undefined; life: Life | undefined },
): Promise<void> {
  if (plans.length === 0) return
  const { blockchain } = chain.network
  const nowMs = ctx.clock.nowMs()
  const first = Math.max(nonces.next, chainNonce ?? 0)
  const { free } = nonces
  const unsigned = plans.map((covered, index) =>
    unsignedOf(covered, free[index] ?? first + index - free.length, life),
  )
  const requests = plans.map(({ plan: { row } }, index) => ({
    entityId: row.entityId,
    intentId: row.id,
    intent: intentBytes({ blockchain, ...row }),
    payload: chain.payments.payloadOf(unsigned[index]!),
    ...pricedNonce(blockchain, unsigned[index]!, life),
  }))
  const signatures = await signForIntents(ctx.custody, tx, requests, nowMs).catch(async (error) => {
    // The intents are valid: another payload was signed for this nonce, or the wallet is frozen.
    if (error instanceof SecondPayload || error instanceof WalletFrozen) throw error
    const ids = plans.map(({ plan }) => plan.row.id)
    return throwRefusal(tx, error, ids)
  })
  const attempts: NewAttempt[] = []
  for (const [index, covered] of plans.entries()) {
    const signed = await attachSignatures(tx, ctx, chain, unsigned[index]!, {
      sender: signatures[index]!,
      payer: covered.payer,
    })
    attempts.push({ ...attemptOf(chain, covered, unsigned[index]!, signed, nowMs), life })
  }
  failpoint('after-signature')
  await insertAttempts(tx, nowMs, attempts)
  failpoint('after-attempt-insert')
  await markQueued(
    tx,
    nowMs,
    plans.map(({ plan, payer }, index) => ({
      entityId: plan.row.entityId,
      id: plan.row.id,
      txHash: attempts[index]!.txHash,
      fee: shownFee(plan),
      feePayer: payer?.address,
      createdContract: createdContractOf(chain, attempts[index]!, plan.row),
    })),
  )
  await recordQueued(
    tx,
    nowMs,
    plans.map(({ plan }) => plan),
  )
}

const createdContractOf = (chain: Chain, { address, nonce }: NewAttempt, { callTo }: WaitingTransaction) =>
  callTo === null ? contractsOn(chain).createdAddress(address, nonce) : undefined

/** The fields of a payload that the signing ledger records. */
export const pricedNonce = (
  blockchain: string,
  { nonce, maxFeeAtomic, priorityFeeAtomic, expiresMs }: UnsignedTransaction,
  life: Life | undefined,
) => ({ blockchain, nonce, maxFeeAtomic, priorityFeeAtomic, expiresMs, lastHeight: life?.lastHeight })

/** The signed bytes of a transaction; the treasury that pays its fee signs them too. */
export async function attachSignatures(
  tx: Db,
  { custody }: EngineCtx,
  { payments }: Chain,
  transaction: UnsignedTransaction,
  { sender, payer }: { sender: Signature; payer: Sponsor | undefined },
): Promise<{ raw: Hex; hash: string }> {
  const { feePayer } = transaction
  if (feePayer === undefined) return payments.attachSignature(transaction, sender)
  // A restored copy may be from before the treasury was made.
  if (payer?.address !== feePayer) throw new Error(`the key of ${feePayer}, which pays the fee, is unknown`)
  const { entityId, keyId } = payer
  const payload = payments.payloadOf(transaction)
  const ofPayer = await signWithPlatformKey(custody, tx, { entityId, keyId, payload })
  return payments.attachSignature(transaction, sender, ofPayer)
}

/** Builds the attempt that uses the nonce, with its signed bytes. */
function attemptOf(
  chain: Chain,
  { plan, feeMaxAtomic }: CoveredPlan,
  transaction: UnsignedTransaction,
  { raw, hash }: { raw: Hex; hash: string },
  nowMs: number,
): NewAttempt {
  const { nonce, gasLimit, maxFeeAtomic, priorityFeeAtomic } = transaction
  const { entityId, id, address } = plan.row
  return {
    entityId,
    id: newId(nowMs),
    transactionId: id,
    blockchain: chain.network.blockchain,
    address,
    nonce,
    kind: 'original',
    replacesId: null,
    txHash: hash,
    raw: bytesOf(raw),
    gasLimit,
    maxFeeAtomic,
    priorityFeeAtomic,
    feeMaxAtomic,
    depositAtomic: plan.depositAtomic,
  }
}

export const recordQueued = (tx: Db, nowMs: number, plans: readonly Pick<Plan, 'row'>[]) =>
  recordChanges(
    tx,
    nowMs,
    plans.map(({ row: { entityId, id } }) => ({
      entityId,
      actor: 'transactions',
      type: 'transaction.queued',
      resourceId: id,
      data: { state: 'QUEUED' },
    })),
  )

function unsignedOf(
  { plan: { row, fee, gasLimit }, payer }: CoveredPlan,
  nonce: number,
  life: Life | undefined,
): UnsignedTransaction {
  const { maxFeeAtomic, priorityFeeAtomic } = fee
  const call = callOf(row)
  const unsigned = { from: row.address, ...call, nonce, gasLimit, maxFeeAtomic, priorityFeeAtomic }
  return {
    ...unsigned,
    ...termsOfLife(life),
    ...(payer && { feePayer: payer.address }),
  }
}

type FeePlan = Pick<Ready, 'fee' | 'gasLimit'> & Partial<Pick<Ready, 'depositAtomic'>>

/** The fee as customers see it. */
export const shownFee = ({ fee, gasLimit, depositAtomic = 0n }: FeePlan) => ({
  ...(depositAtomic > 0n && { deposit: depositAtomic.toString() }),
  gasLimit: gasLimit.toString(),
  baseFee: fee.baseFeeAtomic.toString(),
  priorityFee: fee.priorityFeeAtomic.toString(),
  maxFee: fee.maxFeeAtomic.toString(),
})
