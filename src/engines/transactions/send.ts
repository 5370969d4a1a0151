import type { Chain } from '#chains/chain'
import type { BroadcastOutcome, RefusalReason } from '#chains/facets/payments'
import type { EngineCtx } from '#engines/ctx'
import { indexedHead } from '#engines/indexer/index'
import { hexOf } from '#lib/hex'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { createFailureCounts } from '#runtime/scheduling/failure-counts'
import { oncePer } from '#runtime/scheduling/memoize'
import type { Turn } from '#runtime/turns/store'
import { failUnsentTransactions } from './fail-unsent.ts'
import type { JournalWriter } from './journal/writer.ts'
import { feeExceedsMax } from './plan.ts'
import { logProviderFailure } from './provider-failures.ts'
import { type PriceRefusal, readPriceRefusals } from './sequence/price-refusals.ts'
import { requeueAfterOverlookedUse } from './sequence/requeue-displaced.ts'
import { type ClaimedAttempt, claimDueAttempts, recordSends, type SendResult } from './store/attempts.ts'
import { isMerged } from './store/journals.ts'
import { cancelRefused, requestBumps } from './store/replacements.ts'
import { enterState } from './store/transactions.ts'

const requestMax = 100
/**
 * Lease of claimed attempts. After a worker is killed, its attempts and the later nonces of their senders wait for this time.
 * A request that outlasts the lease is repeated by another worker; sending the same bytes twice is harmless.
 */
const leaseMs = 3_000
/** Resend interval on local nodes, which mine their pool: bytes that are not in a block after this time are sent again. */
const resendLocalMs = 3_000
const resendMs = 15_000
/**
 * Delay before the next check whether an indexed block contains a used nonce. The first check and all rounds before the alarm
 * fit in a minute.
 */
const recheckMs = 4_000
const retryMs = 1_000

/**
 * Broadcasts due signed attempts, and again those in no block yet, always with the same bytes. Requests leave one at a time;
 * meanwhile the next batch is claimed and journaled and the previous outcomes are recorded. Ends when nothing is due, or
 * after the claimed batch once `mayContinue` is false. True when something was due.
 */
export async function sendSigned(
  ctx: EngineCtx,
  chain: Chain,
  journal: JournalWriter,
  turn: Turn,
  mayContinue: () => boolean,
): Promise<boolean> {
  let did = false
  let next = prepare(ctx, chain, journal, turn)
  let recording = Promise.resolve()
  for (;;) {
    const due = await next
    if (!due) break
    did = true
    next = mayContinue() ? prepare(ctx, chain, journal, turn) : Promise.resolve(undefined)
    // Each promise is awaited later; until then its rejection must not count as unhandled.
    next.catch(() => undefined)
    const outcomes = await broadcast(chain, due)
    await recording
    recording = recordOutcomes(ctx, chain, due, outcomes)
    recording.catch(() => undefined)
  }
  await recording
  return did
}

/** Claims due attempts and writes them to the journal on disk; `undefined` when none is due. */
async function prepare(
  ctx: EngineCtx,
  chain: Chain,
  journal: JournalWriter,
  turn: Turn,
): Promise<ClaimedAttempt[] | undefined> {
  const claimed = await claimDueAttempts(ctx.database, turn, chain.network.blockchain, requestMax, leaseMs)
  if (claimed.length === 0) return undefined
  failpoint('after-send-lease')
  const due = await deferMined(ctx, chain, claimed)
  if (due.length === 0) return due
  await journal.write(chain.network.blockchain, due)
  failpoint('before-send')
  return due
}

async function broadcast(chain: Chain, due: readonly ClaimedAttempt[]): Promise<BroadcastOutcome[]> {
  if (due.length === 0) return []
  const outcomes = await chain.payments.broadcast(due.map((attempt) => hexOf(attempt.raw)))
  failpoint('before-send-record')
  if (due.some(({ kind }) => kind === 'bump' || kind === 'cancel')) failpoint('before-replacement-record')
  return outcomes
}

/**
 * Defers attempts tried before whose nonce the chain counts as used: most likely by these very bytes, which the indexer will
 * confirm. The count alone proves nothing. Returns the other attempts: all, where the chain counts none.
 */
async function deferMined(
  ctx: EngineCtx,
  chain: Chain,
  claimed: readonly ClaimedAttempt[],
): Promise<ClaimedAttempt[]> {
  const { nonceOf } = chain.lane
  if (!nonceOf) return [...claimed]
  const wasTried = ({ state, broadcastCount }: ClaimedAttempt) => state === 'sent' || broadcastCount > 1
  const senders = new Set(claimed.filter(wasTried).map(({ address }) => address))
  const counting = [...senders].map(async (address) => [address, await nonceOf(address)] as const)
  const counts = new Map(await Promise.all(counting))
  const isMined = (attempt: ClaimedAttempt) =>
    wasTried(attempt) && attempt.nonce < (counts.get(attempt.address) ?? 0)
  const mined = claimed.filter(isMined)
  await reportUnaccounted(ctx, chain, mined)
  if (mined.length > 0) {
    await requeueAfterOverlookedUse(ctx, chain.network.blockchain, mined)
    await recordSends(
      ctx.database,
      mined.map(({ entityId, id, fencingToken, state }) => ({
        entityId,
        id,
        fencingToken,
        state,
        retryInMs: Math.min(recheckMs, resendAfterMs(chain)),
        error: null,
      })),
    )
  }
  return claimed.filter((attempt) => !isMined(attempt))
}

/** Alert after this many rounds in which the chain reports a nonce as used but no indexed block contains it. */
const unaccountedRounds = 10

async function reportUnaccounted(
  ctx: EngineCtx,
  chain: Chain,
  mined: readonly ClaimedAttempt[],
): Promise<void> {
  const unaccounted = mined.filter(({ broadcastCount }) => broadcastCount % unaccountedRounds === 0)
  // Transactions that only an awaited journal has may have used them.
  if (unaccounted.length === 0 || !(await isMerged(ctx.database))) return
  const [head, followed] = await Promise.all([
    chain.blocks.head(),
    indexedHead(ctx.database, chain.network.blockchain),
  ])
  // Blocks that are not indexed yet may contain them.
  if (followed && head.number > followed.number + 1) return
  raiseAlarm(
    ctx.log,
    'nonce-unaccounted',
    { attempts: unaccounted.map(({ id, address, nonce }) => ({ id, address, nonce })) },
    'the chain counts these nonces as used, but no indexed block contains a transaction with them',
  )
}

/** Whether the attempt carries out the customer's request, unlike a cancel transaction or a no-op. */
const isIntent = ({ kind }: ClaimedAttempt) => kind === 'original' || kind === 'bump'

const resendAfterMs = ({ local }: Chain) => (local ? resendLocalMs : resendMs)

async function recordOutcomes(
  ctx: EngineCtx,
  chain: Chain,
  part: readonly ClaimedAttempt[],
  outcomes: readonly BroadcastOutcome[],
): Promise<void> {
  if (part.length === 0) return
  reportUnknown(ctx, chain, part, outcomes)
  const prices = await readPriceRefusals(ctx, chain, part, outcomes)
  const results = part.map((attempt, index) =>
    resultOf(chain, attempt, outcomes[index]!, prices.get(attempt.id)),
  )
  await ctx.database.tx(async (tx) => {
    const written = await recordSends(tx, results)
    const mine = part
      .map((attempt, index) => ({ attempt, result: results[index]! }))
      .filter(({ attempt }) => written.has(attempt.id))
    const taken = mine
      // A rebroadcast changes no state: a stuck transaction stays stuck until a node accepts its replacement.
      .filter(
        ({ attempt, result }) =>
          result.state === 'sent' && attempt.state === 'signed' && attempt.kind !== 'noop',
      )
      .map(intentOf)
    const nowMs = ctx.clock.nowMs()
    const entered = taken.length > 0 ? await enterState(tx, nowMs, 'SENT', taken) : []
    await recordChanges(
      tx,
      nowMs,
      entered.map(({ entityId, id }) => ({
        entityId,
        actor: 'transactions',
        type: 'transaction.sent',
        resourceId: id,
        data: { state: 'SENT' },
      })),
    )
    const underpriced = mine.filter(({ attempt }) => prices.get(attempt.id) === 'price-rose').map(intentOf)
    if (underpriced.length > 0) await requestBumps(tx, nowMs, chain.network.blockchain, underpriced)
    for (const { attempt, result } of mine) {
      if (result.cancelReason === undefined) continue
      await cancelRefused(
        tx,
        nowMs,
        chain.network.blockchain,
        intentOf({ attempt }),
        result.cancelReason,
        refusalText(result),
      )
    }
    const rejected = mine.filter(({ result }) => result.state === 'rejected')
    await failUnsentTransactions(
      tx,
      ctx,
      rejected.map(({ attempt, result }) => ({
        entityId: attempt.entityId,
        id: attempt.transactionId,
        reason: result.reason ?? 'INTERNAL_ERROR',
        details: refusalText(result),
      })),
    )
  })
}

/** Logs broadcasts with an unknown outcome. For an attempt that a node accepted before, it counts as a single try. */
function reportUnknown(
  ctx: EngineCtx,
  chain: Chain,
  part: readonly ClaimedAttempt[],
  outcomes: readonly BroadcastOutcome[],
): void {
  const unknown = part.flatMap(({ state, broadcastCount }, index) => {
    const outcome = outcomes[index]!
    return outcome.kind === 'unknown'
      ? [{ said: outcome.message, tries: state === 'signed' ? broadcastCount : 1 }]
      : []
  })
  const [worst] = unknown.sort((one, other) => other.tries - one.tries)
  if (worst) logProviderFailure(ctx, chain, { doing: 'sending', ...worst })
}

const intentOf = ({ attempt }: { attempt: ClaimedAttempt }) => ({
  entityId: attempt.entityId,
  id: attempt.transactionId,
})

const refusalText = ({ error }: SendResult) => `the node refused it: ${error}`

/** Refusals that end a transaction, as customers see them. */
const reasons = new Map<RefusalReason, string>([
  ['underpriced', 'TRANSACTION_UNDER_PRICE'],
  ['insufficient-funds', 'INSUFFICIENT_NATIVE_TOKEN'],
  ['gas-limit', 'GAS_LIMIT_TOO_LOW'],
  ['invalid', 'INTERNAL_ERROR'],
])

/** Cancel after this many refusals: a cancel transaction takes the nonce of the refused bytes. */
const refusalsMax = 5
/**
 * Number of refusals of each attempt that this process received; broadcasts without an answer do not count. A restarted
 * process counts from zero, so it cancels later, never sooner.
 */
const refusalsOn = oncePer((_chain: Chain) => createFailureCounts())

/**
 * Only the first broadcast of bytes can be refused for good: an earlier one without an answer may have arrived. Bytes that
 * are refused repeatedly are replaced by a cancel transaction, so that a block decides, whatever the nodes hold.
 */
function resultOf(
  chain: Chain,
  attempt: ClaimedAttempt,
  outcome: BroadcastOutcome,
  price: PriceRefusal | undefined,
): SendResult {
  const { entityId, id, fencingToken } = attempt
  const kept = { entityId, id, fencingToken }
  const resend = resendAfterMs(chain)
  if (outcome.kind === 'accepted') {
    refusalsOn(chain).ended(id)
    return { ...kept, state: 'sent', retryInMs: resend, error: null }
  }
  const backoff = Math.min(retryMs * 2 ** Math.min(attempt.broadcastCount - 1, 6), resend)
  if (outcome.kind === 'unknown')
    return { ...kept, state: attempt.state, retryInMs: backoff, error: outcome.message }
  // A replacement at the current price follows, or may be necessary.
  if (price === 'price-rose' || price === 'price-unknown')
    return { ...kept, state: attempt.state, retryInMs: backoff, error: outcome.message }
  const reason = price === 'fee-exceeded' ? feeExceedsMax : reasons.get(outcome.reason)
  const isFirst = attempt.state === 'signed' && attempt.broadcastCount === 1 && price !== 'unfounded'
  // This node may not know of incoming coins yet. A no-op is kept: nothing else would use its nonce.
  if (reason && isFirst && attempt.kind === 'original' && outcome.reason !== 'insufficient-funds')
    return { ...kept, state: 'rejected', retryInMs: 0, error: outcome.message, reason }
  // A cancel transaction would cost more than the user approved, too: the bytes wait for a lower price.
  const mayCancel = reason && price !== 'fee-exceeded' && attempt.state === 'signed' && isIntent(attempt)
  if (mayCancel && refusalsOn(chain).failed(id) >= refusalsMax)
    return { ...kept, state: 'signed', retryInMs: backoff, error: outcome.message, cancelReason: reason }
  // A nonce reported as used may be used by these bytes, by a foreign transaction, or not at all: only blocks decide.
  const retryInMs = attempt.state === 'sent' ? resend : backoff
  return { ...kept, state: attempt.state, retryInMs, error: outcome.message }
}
