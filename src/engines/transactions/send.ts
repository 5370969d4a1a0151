import type { BroadcastOutcome, Chain, RefusalReason } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { indexedHead } from '#engines/indexer/index'
import { reachPoint } from '#lib/crash-points'
import { hexOf } from '#lib/hex'
import { createTally } from '#lib/tally'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import type { Turn } from '#runtime/turns/store'
import { concludeOverlooked } from './displace.ts'
import { fail } from './fail.ts'
import type { JournalWriter } from './journal/write.ts'
import { type PriceRefusal, readPriceRefusals } from './reprice.ts'
import { type Claimed, claimUnsent, recordSends, type SendResult } from './store/attempts.ts'
import { giveUp, wishDearer } from './store/replacements.ts'
import { enterState } from './store/transactions.ts'
import { noteTrouble } from './trouble.ts'

const requestMax = 100
/**
 * How long a killed worker holds up what it had claimed, and everything of the same senders behind that. A request that
 * takes longer is made again by another worker: the same bytes twice do no harm.
 */
const leaseMs = 3_000
/** A local node mines what it has; bytes that are not in a block after this are sent again. */
const resendLocalMs = 3_000
const resendMs = 15_000
/**
 * How soon it is asked again whether a used nonce is accounted for. The first look and the rounds after it, and so the alarm,
 * come within a minute.
 */
const accountMs = 4_000
const retryMs = 1_000

/**
 * Sends what is signed and due, and again what no block holds yet: always the same bytes. While one request is under way the
 * next one is claimed and put on the disk, and what came of the one before is written down; requests leave one after another.
 * Ends when nothing is due, or with what was claimed when it may not go on. True when something was due.
 */
export async function sendSigned(
  ctx: EngineCtx,
  chain: Chain,
  journal: JournalWriter,
  turn: Turn,
  mayGoOn: () => boolean,
): Promise<boolean> {
  let did = false
  let next = prepare(ctx, chain, journal, turn)
  let recording = Promise.resolve()
  for (;;) {
    const due = await next
    if (!due) break
    did = true
    next = mayGoOn() ? prepare(ctx, chain, journal, turn) : Promise.resolve(undefined)
    // Each is awaited in its turn; until then a failure must not look like one that nobody waits for.
    next.catch(() => undefined)
    const outcomes = await broadcast(chain, due)
    await recording
    recording = record(ctx, chain, due, outcomes)
    recording.catch(() => undefined)
  }
  await recording
  return did
}

/** Claims what is due and has it on the disk; `undefined` when nothing is. */
async function prepare(
  ctx: EngineCtx,
  chain: Chain,
  journal: JournalWriter,
  turn: Turn,
): Promise<Claimed[] | undefined> {
  const claimed = await claimUnsent(ctx.database, turn, chain.network.blockchain, requestMax, leaseMs)
  if (claimed.length === 0) return undefined
  reachPoint('P6')
  const due = await leaveMined(ctx, chain, claimed)
  if (due.length === 0) return due
  await journal.write(chain.network.blockchain, due)
  reachPoint('P12')
  return due
}

async function broadcast(chain: Chain, due: readonly Claimed[]): Promise<BroadcastOutcome[]> {
  if (due.length === 0) return []
  const outcomes = await chain.broadcast(due.map((attempt) => hexOf(attempt.raw)))
  reachPoint('P14')
  if (due.some(({ kind }) => kind === 'bump' || kind === 'cancel')) reachPoint('P19')
  return outcomes
}

/**
 * Puts off what was tried before and whose nonce a block used by now: most likely these very bytes, which whoever follows the
 * blocks will tell soon. Nothing is concluded from the count alone. Returns the others.
 */
async function leaveMined(ctx: EngineCtx, chain: Chain, claimed: readonly Claimed[]): Promise<Claimed[]> {
  const wasTried = ({ state, broadcastCount }: Claimed) => state === 'sent' || broadcastCount > 1
  const senders = new Set(claimed.filter(wasTried).map(({ address }) => address))
  const counting = [...senders].map(
    async (address) => [address, await chain.nonceOf(address as `0x${string}`)] as const,
  )
  const counts = new Map(await Promise.all(counting))
  const isMined = (attempt: Claimed) =>
    wasTried(attempt) && attempt.nonce < (counts.get(attempt.address) ?? 0)
  const mined = claimed.filter(isMined)
  await raiseUnaccounted(ctx, chain, mined)
  if (mined.length > 0) {
    await concludeOverlooked(ctx, chain.network.blockchain, mined)
    await recordSends(
      ctx.database,
      mined.map(({ entityId, id, fencingToken, state }) => ({
        entityId,
        id,
        fencingToken,
        state,
        againMs: Math.min(accountMs, resendAfterMs(chain)),
        error: null,
      })),
    )
  }
  return claimed.filter((attempt) => !isMined(attempt))
}

/** Alert after this many rounds in which the chain reports a nonce as used but no indexed block contains it. */
const unaccountedRounds = 10

async function raiseUnaccounted(ctx: EngineCtx, chain: Chain, mined: readonly Claimed[]): Promise<void> {
  const unaccounted = mined.filter(({ broadcastCount }) => broadcastCount % unaccountedRounds === 0)
  if (unaccounted.length === 0) return
  const [head, followed] = await Promise.all([
    chain.head(),
    indexedHead(ctx.database, chain.network.blockchain),
  ])
  // Blocks that are still to be read may account for them.
  if (followed && head.number > followed.number + 1) return
  raiseAlarm(
    ctx.log,
    'nonce-unaccounted',
    { attempts: unaccounted.map(({ id, address, nonce }) => ({ id, address, nonce })) },
    'the chain counts these nonces as used, and no block that was read holds a transaction with them',
  )
}

/** It does what the customer asked for. */
const isIntent = ({ kind }: Claimed) => kind === 'original' || kind === 'bump'

const resendAfterMs = ({ local }: Chain) => (local ? resendLocalMs : resendMs)

async function record(
  ctx: EngineCtx,
  chain: Chain,
  part: readonly Claimed[],
  outcomes: readonly BroadcastOutcome[],
): Promise<void> {
  if (part.length === 0) return
  noteUnknown(ctx, chain, part, outcomes)
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
      // What is sent again changes nothing: a stuck one stays stuck until dearer bytes are taken.
      .filter(
        ({ attempt, result }) =>
          result.state === 'sent' && attempt.state === 'signed' && attempt.kind !== 'filler',
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
    const outpriced = mine.filter(({ attempt }) => prices.get(attempt.id) === 'outpriced').map(intentOf)
    if (outpriced.length > 0) await wishDearer(tx, nowMs, chain.network.blockchain, outpriced)
    for (const { attempt, result } of mine) {
      if (result.giveUp === undefined) continue
      await giveUp(
        tx,
        nowMs,
        chain.network.blockchain,
        intentOf({ attempt }),
        result.giveUp,
        refusalText(result),
      )
    }
    const rejected = mine.filter(({ result }) => result.state === 'rejected')
    await fail(
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

/** Logs what is neither taken nor refused for certain; what a node took before only goes to it again. */
function noteUnknown(
  ctx: EngineCtx,
  chain: Chain,
  part: readonly Claimed[],
  outcomes: readonly BroadcastOutcome[],
): void {
  const unknown = part.flatMap(({ state, broadcastCount }, index) => {
    const outcome = outcomes[index]!
    return outcome.kind === 'unknown'
      ? [{ said: outcome.message, tries: state === 'signed' ? broadcastCount : 1 }]
      : []
  })
  const [worst] = unknown.sort((one, other) => other.tries - one.tries)
  if (worst) noteTrouble(ctx, chain, { doing: 'sending', ...worst })
}

const intentOf = ({ attempt }: { attempt: Claimed }) => ({
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

/** Give up what was refused this often: a transaction that moves nothing takes its nonce. */
const refusalsMax = 5
/**
 * How often bytes were refused, as far as this process heard: sends that no node answered do not count. A process that starts
 * again counts from the beginning, and so gives up later, never sooner.
 */
const refusals = createTally()

/**
 * Only the first sending of bytes can be refused for good: later ones may follow one that arrived unheard. What goes on being
 * refused is replaced by a cancellation instead, so that a block decides, whatever the nodes hold.
 */
function resultOf(
  chain: Chain,
  attempt: Claimed,
  outcome: BroadcastOutcome,
  price: PriceRefusal | undefined,
): SendResult {
  const { entityId, id, fencingToken } = attempt
  const kept = { entityId, id, fencingToken }
  const resend = resendAfterMs(chain)
  if (outcome.kind === 'accepted') {
    refusals.ended(id)
    return { ...kept, state: 'sent', againMs: resend, error: null }
  }
  const backoff = Math.min(retryMs * 2 ** Math.min(attempt.broadcastCount - 1, 6), resend)
  if (outcome.kind === 'unknown')
    return { ...kept, state: attempt.state, againMs: backoff, error: outcome.message }
  // Other bytes with a price of now are going to take its place, or may have to.
  if (price === 'outpriced' || price === 'unread')
    return { ...kept, state: attempt.state, againMs: backoff, error: outcome.message }
  const reason = reasons.get(outcome.reason)
  const isFirst = attempt.state === 'signed' && attempt.broadcastCount === 1 && price !== 'unexplained'
  // Coins may be on their way, as far as this node knows. A filler stays: nothing else would come to its nonce.
  if (reason && isFirst && attempt.kind === 'original' && outcome.reason !== 'insufficient-funds')
    return { ...kept, state: 'rejected', againMs: 0, error: outcome.message, reason }
  const mayGiveUp = reason && attempt.state === 'signed' && isIntent(attempt)
  if (mayGiveUp && refusals.failed(id) >= refusalsMax)
    return { ...kept, state: 'signed', againMs: backoff, error: outcome.message, giveUp: reason }
  // A nonce that is used up was used by these bytes or by somebody else, or it is not: only blocks tell.
  const againMs = attempt.state === 'sent' ? resend : backoff
  return { ...kept, state: attempt.state, againMs, error: outcome.message }
}
