import type { Chain } from '#chains/chain'
import type { FeeSuggestion } from '#chains/facets/offers'
import type { Call, UnsignedTransaction } from '#chains/facets/payments'
import { WalletFrozen } from '#custody/freezes/index'
import { signedDigest, signForIntents } from '#custody/index'
import { screenRecipients } from '#engines/compliance/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { raiseHold } from '#engines/ledger/holds/index'
import { nativeTokenId } from '#engines/ledger/tokens/index'
import { larger } from '#lib/amounts'
import { bytesOf } from '#lib/hex'
import { newId } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { type Deferral, defer, type Turn } from '#runtime/turns/store'
import { type Failure, failUnsentTransactions } from '../fail-unsent.ts'
import { currentFees, type Fee, feeMaxOf, replacementFee } from '../fees.ts'
import { callOf, intentBytes } from '../intent.ts'
import { BlocksUnread, newLife, termsOfLife } from '../new-life.ts'
import { highestFeeOf } from '../plan.ts'
import { logSigningFailure } from '../provider-failures.ts'
import { counterpartiesOf, counterpartiesOfCall } from '../recipients.ts'
import { renewTreasuryGrant } from '../renew-grant.ts'
import { attachSignatures, pricedNonce } from '../sign.ts'
import type { SigningOutcome } from '../signing-round.ts'
import { insertAttempts, isReplaced, type Life, lockNonces, markEnded } from '../store/attempts.ts'
import { bundledCalls } from '../store/operations.ts'
import {
  cancelRefused,
  clearOutdatedRequests,
  clearReplacementRequest,
  lockReplacementRequest,
  type ReplacementKind,
  type ReplacementRequest,
  recordReplacement,
  replacementRequests,
} from '../store/replacements.ts'
import { findSponsor } from '../store/sponsors.ts'

const requestsMax = 100

/**
 * Signs the replacements that bump or cancel transactions: same key and nonce, higher price, linked to the replaced attempt.
 * Like the original, a replacement is stored before it is sent; the one that is mined decides. True when something was
 * signed.
 */
export async function signReplacements(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const requests = await replacementRequests(ctx.database, turn, blockchain, requestsMax)
  if (requests.length === 0) {
    await clearOutdatedRequests(ctx.database, blockchain)
    return false
  }
  const suggestion = await currentFees(chain)
  let did = false
  const deferred = new Map<string, Deferral>()
  for (const row of requests) {
    const { entityId, address } = row
    if (deferred.has(address)) continue
    const outcome = await replaceOne(ctx, chain, row, suggestion).catch((error): SigningOutcome => {
      if (error instanceof BlocksUnread) return 'busy'
      if (!(error instanceof WalletFrozen)) logSigningFailure(ctx, chain, { transactionId: row.id }, error)
      return 'blocked'
    })
    if (outcome === 'advanced') did = true
    const waitedMs = ctx.clock.nowMs() - Date.parse(row.updateDate)
    if (outcome === 'blocked') deferred.set(address, { entityId, key: address, waitedMs })
  }
  await defer(ctx.database, turn.queue, blockchain, [...deferred.values()])
  return did
}

/**
 * Records that a request is impossible. A bump for a transaction that no node accepted yet is retried and may fail often, so
 * it raises an alarm instead of recording a change each time; so does what replaces dead bytes, which is requested until it is signed.
 */
async function recordImpossible(tx: Db, ctx: EngineCtx, request: ReplacementRequest): Promise<void> {
  if (!isDead(request) && (request.requested !== 'bump' || request.state !== 'QUEUED'))
    return recordEvent(tx, ctx, request, 'replacementImpossible')
  raiseAlarm(
    ctx.log,
    'price-out-of-reach',
    { transactionId: request.id },
    'the fee exceeds the maximum or the balance of the wallet: the transaction waits until prices fall',
  )
}

/** Whether lists deny a recipient now, also one in a bundle. The price of what was sent to it before is not raised. */
async function isListed(tx: Db, ctx: EngineCtx, chain: Chain, request: ReplacementRequest) {
  const { blockchain } = chain.network
  const nested = await bundledCalls(tx, [request])
  const concerned = [
    ...counterpartiesOf(blockchain, chain.payments.decodeCall(callOf(request)), {
      guessed: request.walletId !== null,
    }),
    ...nested.flatMap((each) => counterpartiesOfCall(chain, callOf(each))),
  ]
  const [decision] = await screenRecipients({ ...ctx, db: tx }, [concerned])
  return decision!.actions.includes('DENY')
}

type Replacement = {
  call: Call
  gasLimit: bigint
  fee: Fee
  /** The highest fee that it may cost, and the coins that it takes beside that. */
  feeMaxAtomic: bigint
  depositAtomic: bigint
  life: Life | undefined
}

/** Why nothing is signed in the place of dead bytes. */
type HopelessCall = { failure: Pick<Failure, 'reason' | 'details'> }

async function replaceOne(
  ctx: EngineCtx,
  chain: Chain,
  row: ReplacementRequest,
  suggestion: FeeSuggestion,
): Promise<SigningOutcome> {
  const replacement = await plan(ctx, chain, row, suggestion)
  const outcome = await ctx.database.tx(async (tx): Promise<SigningOutcome> => {
    if (!(await lockNonces(tx, chain.network.blockchain, row.address))) return 'busy'
    await shareLists(tx)
    const request = await lockReplacementRequest(tx, row)
    if (
      !request ||
      request.requested !== row.requested ||
      (await isReplaced(tx, row.entityId, row.attemptId))
    )
      return 'busy'
    if (kindOf(request) === 'bump' && (await isListed(tx, ctx, chain, request))) {
      if (isUnordered(row)) {
        const details = 'screening denies its recipient'
        return failDead(tx, ctx, row, { reason: 'SCREENING_DENIED', details })
      }
      const details = 'screening denies its recipient: a transaction without effect takes its nonce'
      await cancelRefused(
        tx,
        ctx.clock.nowMs(),
        chain.network.blockchain,
        request,
        'SCREENING_DENIED',
        details,
      )
      return 'advanced'
    }
    if (replacement !== 'too expensive' && 'failure' in replacement)
      return failDead(tx, ctx, row, replacement.failure)
    // A cancel transaction in flight satisfies a cancel request, unless it offers less than the base fee.
    const isEnough = row.maxFee >= suggestion.baseFeeAtomic && !isDead(row)
    const done = request.requested === 'cancel' && request.kind === 'cancel' && isEnough
    if (done || replacement === 'too expensive' || !(await holdFee(tx, ctx, chain, row, replacement))) {
      // Nothing else would take the nonce of dead bytes, which later ones wait for.
      if (done || !isDead(row)) await clearReplacementRequest(tx, row)
      if (!done) await recordImpossible(tx, ctx, request)
      return isDead(row) ? 'blocked' : 'busy'
    }
    await signReplacement(tx, ctx, chain, row, replacement)
    return 'advanced'
  })
  if (outcome === 'advanced') failpoint('before-replacement-send')
  return outcome
}

const isDead = ({ deathProof }: ReplacementRequest) => deathProof !== null

/** Whether no later transaction waits for the nonce, so that nothing has to take it. */
const isUnordered = ({ lastHeight }: ReplacementRequest) => lastHeight !== null

/** Fails an intent whose bytes are dead, in the place of signing others that would fail. */
async function failDead(
  tx: Db,
  ctx: EngineCtx,
  { entityId, id, attemptId }: ReplacementRequest,
  failure: HopelessCall['failure'],
): Promise<SigningOutcome> {
  await markEnded(tx, { entityId, id: attemptId })
  await failUnsentTransactions(tx, ctx, [{ entityId, id, ...failure }])
  await clearReplacementRequest(tx, { entityId, id })
  return 'advanced'
}

async function plan(
  ctx: EngineCtx,
  chain: Chain,
  row: ReplacementRequest,
  suggestion: FeeSuggestion,
): Promise<Replacement | HopelessCall | 'too expensive'> {
  const replaced = { maxFeeAtomic: row.maxFee, priorityFeeAtomic: row.priorityFee }
  const fee = replacementFee(suggestion, replaced)
  const own = row.address
  const cancelling = kindOf(row) === 'cancel'
  const call: Call = cancelling ? { to: own, valueAtomic: 0n, data: '0x' } : callOf(row)
  const limits = cancelling
    ? { gasLimit: await estimateSelfCall(chain, row, call), depositAtomic: 0n }
    : isUnordered(row)
      ? await estimateAgain(chain, row, call)
      : { gasLimit: row.gasLimit, depositAtomic: row.depositAtomic }
  if (limits === 'too expensive' || 'failure' in limits) return limits
  const feeMaxAtomic = highestFeeOf(chain.network, { ...limits, fee, hasFeePayer: row.feePayer !== null })
  return feeMaxAtomic > feeMaxOf(chain.network)
    ? 'too expensive'
    : { call, ...limits, fee, feeMaxAtomic, life: await lifeOf(ctx, chain, row) }
}

/** Estimates the call of dead bytes: the chain may have changed in the life that they had. */
async function estimateAgain(
  chain: Chain,
  { address, feePayer, gasLimit }: ReplacementRequest,
  call: Call,
): Promise<Pick<Replacement, 'gasLimit' | 'depositAtomic'> | HopelessCall | 'too expensive'> {
  const estimate = await chain.offers.estimateGas(address, call, { feePayer: feePayer ?? undefined })
  if (estimate.kind === 'estimated') {
    const needed = chain.offers.limitOf(estimate.gas, 'call')
    return { gasLimit: larger(needed, gasLimit), depositAtomic: estimate.depositAtomic ?? 0n }
  }
  if (estimate.kind === 'insufficient-funds') return 'too expensive'
  if (estimate.kind === 'unknown') throw new Error(`cannot estimate it again: ${estimate.message}`)
  return { failure: { reason: 'ESTIMATION_ERROR', details: estimate.message } }
}

/** The expiry of a replacement: that of the bytes it replaces, or another one once these are proven dead. */
async function lifeOf(ctx: EngineCtx, chain: Chain, row: ReplacementRequest): Promise<Life | undefined> {
  const { expiresMs, signedAt, deathProof } = row
  if (signedAt === null) return undefined
  return deathProof === null && expiresMs !== null ? { expiresMs, signedAt } : newLife(ctx, chain)
}

/** The replacement of a cancel transaction is a cancel transaction, too. */
const kindOf = ({ requested, kind }: ReplacementRequest): ReplacementKind =>
  requested === 'cancel' || kind === 'cancel' ? 'cancel' : 'bump'

async function estimateSelfCall(
  chain: Chain,
  { address, feePayer }: ReplacementRequest,
  call: Call,
): Promise<bigint> {
  const estimate = await chain.offers.estimateGas(address, call, { feePayer: feePayer ?? undefined })
  if (estimate.kind === 'estimated') return chain.offers.limitOf(estimate.gas, 'coins')
  throw new Error(`cannot estimate a cancel transaction: ${estimate.message}`)
}

/** Raises the hold to the highest fee of all attempts: any of them may be mined. */
async function holdFee(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  row: ReplacementRequest,
  { feeMaxAtomic, depositAtomic }: Replacement,
) {
  const { blockchain } = chain.network
  const tokenId = nativeTokenId(blockchain)
  const account = { entityId: row.entityId, blockchain, tokenId, address: row.feePayer ?? row.address }
  const amountAtomic = feeMaxAtomic + depositAtomic
  return raiseHold(tx, ctx.clock.nowMs(), { ...account, intentId: row.id, purpose: 'fee', amountAtomic })
}

async function signReplacement(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  row: ReplacementRequest,
  { call, gasLimit, fee, feeMaxAtomic, depositAtomic, life }: Replacement,
) {
  const { entityId, id, address, nonce, attemptId: replacesId } = row
  const kind = kindOf(row)
  const { blockchain } = chain.network
  const { maxFeeAtomic, priorityFeeAtomic } = fee
  const unsigned: UnsignedTransaction = {
    from: address,
    ...call,
    nonce,
    gasLimit,
    maxFeeAtomic,
    priorityFeeAtomic,
    ...termsOfLife(life),
    ...(row.feePayer !== null && { feePayer: row.feePayer }),
  }
  const payload = chain.payments.payloadOf(unsigned)
  const intent = intentBytes({ blockchain, ...row })
  const replaced = { entityId, address, blockchain, nonce, maxFeeAtomic: row.maxFee }
  const signing = {
    payload,
    replaces: await signedDigest(tx, replaced),
    ...pricedNonce(blockchain, unsigned, life),
    deathProof: row.deathProof ?? undefined,
  }
  await renewTreasuryGrant(tx, ctx, chain, row)
  const nowMs = ctx.clock.nowMs()
  const request = { entityId, intentId: id, intent, ...signing }
  const [signature] = await signForIntents(ctx.custody, tx, [request], nowMs)
  const payer = row.feePayer === null ? undefined : await findSponsor(tx, entityId, blockchain)
  const { raw, hash: txHash } = await attachSignatures(tx, ctx, chain, unsigned, {
    sender: signature!,
    payer,
  })
  const kept = {
    entityId,
    id: newId(nowMs),
    transactionId: id,
    blockchain,
    address,
    nonce,
    kind,
    replacesId,
    txHash,
  }
  await insertAttempts(tx, nowMs, [
    {
      ...kept,
      raw: bytesOf(raw),
      gasLimit,
      maxFeeAtomic,
      priorityFeeAtomic,
      feeMaxAtomic,
      depositAtomic,
      life,
    },
  ])
  await recordReplacement(tx, nowMs, row, txHash)
  await recordEvent(tx, ctx, row, kind === 'cancel' ? 'cancelling' : 'accelerated')
}

const recordEvent = (tx: Db, ctx: EngineCtx, { entityId, id }: ReplacementRequest, event: string) =>
  recordChanges(tx, ctx.clock.nowMs(), [
    { entityId, actor: 'transactions', type: `transaction.${event}`, resourceId: id },
  ])
