import type { Chain } from '#chains/chain'
import { freeze } from '#custody/freezes/index'
import {
  askedOf,
  askProvider,
  awaitsProvider,
  type Counterparty,
  opaqueCall,
  openReviews,
  type RiskDecision,
  reviewerOf,
  screenRecipients,
  withdrawReviews,
} from '#engines/compliance/index'
import { listsRevision, shareLists } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { defer, newTurn } from '#runtime/turns/store'
import { denyUnsigned } from './fail-unsent.ts'
import { freezeReceivers } from './freeze-receivers.ts'
import { callOf } from './intent.ts'
import { counterpartiesOf, recipientsOf } from './recipients.ts'
import { bundledCalls } from './store/operations.ts'
import {
  claimOutdated,
  claimUnscreened,
  lockUnscreened,
  markCleared,
  markClearedAgain,
  type Screened,
  setEvaluations,
  type UnscreenedTransaction,
  unscreenedOf,
} from './store/screening.ts'
import { type Ref, showWaitReason } from './store/transactions.ts'

const batchMax = 200
/** One call can name thousands of recipients: the rest of the batch waits for the next one. */
const recipientsMax = 2_000

/**
 * Returns a function that screens one batch of accepted transactions and one of those that were cleared before the lists
 * changed, and freezes wallets for what they received. True when it did any of it.
 */
export function screener(ctx: EngineCtx, chain: Chain): () => Promise<boolean> {
  const { blockchain } = chain.network
  const turns = {
    first: newTurn('screening'),
    again: newTurn('screening again'),
    freezing: newTurn('freezing receivers'),
  }
  let doneRevision = -1
  return async () => {
    const unscreened = await claimUnscreened(ctx.database, turns.first, blockchain, batchMax)
    const decidable = await askAbout(ctx, chain, unscreened)
    const screened = (await screenClaimed(ctx, chain, decidable)) || unscreened.length > 0
    const did = (await freezeReceivers(ctx, turns.freezing, blockchain)) || screened
    const revision = await listsRevision(ctx.database)
    if (revision === doneRevision) return did
    const outdated = await claimOutdated(ctx.database, turns.again, blockchain, revision, batchMax)
    if (outdated.length === 0) doneRevision = revision
    return (await screenClaimed(ctx, chain, outdated)) || did
  }
}

/**
 * Asks the provider of screening about the recipients, where one is set. Returns the transactions to screen now: those of which
 * no recipient has yet to be asked about.
 */
async function askAbout(ctx: EngineCtx, chain: Chain, refs: readonly Ref[]): Promise<readonly Ref[]> {
  if (ctx.config.screeningUrl === undefined) return refs
  const rows = await unscreenedOf(ctx.database, refs)
  const groups = await recipientGroups(ctx.database, chain, rows)
  const keyOf = ({ chain, address }: { chain: string; address: string }) => `${chain} ${address}`
  const left = new Set((await askProvider(ctx, askedOf(groups.map(({ asked }) => asked)))).map(keyOf))
  return rows.filter((_, index) => {
    const group = groups[index]
    return group && askedOf([group.asked]).every((each) => !left.has(keyOf(each)))
  })
}

async function screenClaimed(ctx: EngineCtx, chain: Chain, claimed: readonly Ref[]): Promise<boolean> {
  if (claimed.length === 0) return false
  await ctx.database.tx(async (tx) => {
    await shareLists(tx)
    await screenUnsigned(tx, ctx, chain, claimed)
  })
  return true
}

/**
 * Screens those of the transactions that were not screened against the present lists; the caller shares the lists, so
 * that none changes before its `tx` ends. Returns whether all of them may be signed.
 */
export async function screenUnsigned(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  refs: readonly Ref[],
): Promise<boolean> {
  const revision = await listsRevision(tx)
  const rows = await lockUnscreened(tx, refs, revision)
  const groups = await recipientGroups(tx, chain, rows)
  if (groups.length === 0) return true
  const scope = { ...ctx, db: tx }
  const decisions = await screenRecipients(
    scope,
    groups.map(({ concerned }) => concerned),
  )
  const awaits = await awaitsProvider(
    scope,
    groups.map(({ asked }) => asked),
  )
  const screeningDate = formatInstant(ctx.clock.nowMs())
  const screened = decisions.map((decision, index) => ({
    ...rows[index]!,
    blockchain: chain.network.blockchain,
    isTest: chain.network.environment === 'TEST',
    awaitsProvider: awaits[index]!,
    evaluation: { ...unlessOpaque(chain, rows[index]!, decision), screeningDate },
  }))
  await apply(tx, ctx, screened, revision)
  return groups.length === rows.length && screened.every(({ evaluation }) => !denies(evaluation))
}

/** A call that is not understood to its last byte may pay any address: an operator decides about it, unless a rule does. */
function unlessOpaque(chain: Chain, row: UnscreenedTransaction, decision: RiskDecision): RiskDecision {
  const isDecided = !decision.actions.includes('APPROVE')
  return isDecided || !chain.payments.decodeCall(callOf(row)).dangers.includes('undecodable')
    ? decision
    : opaqueCall
}

const denies = ({ actions }: RiskDecision) => actions.includes('DENY')

/**
 * The addresses that each transaction concerns, of as many as fit into one batch, and those that the provider is asked about; of a
 * bundle those of its operations, too.
 */
async function recipientGroups(db: Db, chain: Chain, rows: readonly UnscreenedTransaction[]) {
  const { blockchain } = chain.network
  const ofTreasuries = rows.filter(({ walletId }) => walletId === null)
  const bundled = ofTreasuries.length > 0 ? await bundledCalls(db, ofTreasuries) : []
  const groups: { concerned: readonly Counterparty[]; asked: readonly Counterparty[] }[] = []
  let count = 0
  for (const row of rows) {
    if (count >= recipientsMax) break
    const inside = bundled.filter(({ bundleId }) => bundleId === row.id)
    const itself = chain.payments.decodeCall(callOf(row))
    const nested = inside.map((each) => chain.payments.decodeCall(callOf(each)))
    const concerned = [
      ...counterpartiesOf(blockchain, itself, { guessed: row.walletId !== null }),
      ...nested.flatMap((each) => counterpartiesOf(blockchain, each)),
    ]
    const asked = [itself, ...nested].flatMap((each) => recipientsOf(blockchain, each))
    groups.push({ concerned, asked })
    count += concerned.length
  }
  return groups
}

type ScreenedTransaction = UnscreenedTransaction &
  Screened & { blockchain: string; isTest: boolean; awaitsProvider: boolean }

async function apply(
  tx: Db,
  ctx: EngineCtx,
  screened: readonly ScreenedTransaction[],
  revision: number,
): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const outcomes = screened.map((row) => ({ row, outcome: outcomeOf(row, ctx.config) }))
  const rowsOf = (wanted: Outcome) =>
    outcomes.flatMap(({ row, outcome }) => (outcome === wanted ? [row] : []))
  const cleared = rowsOf('cleared')
  // Before the rows of others are changed: a freeze waits for signers of the entity.
  await freezeWallets(tx, ctx, screened)
  await deny(tx, ctx, rowsOf('denied'), revision)
  await holdForReview(tx, ctx, rowsOf('review'), revision)
  await holdForProvider(tx, ctx, rowsOf('waits'))
  await markClearedAgain(tx, rowsOf('clearedAgain'), revision)
  await markCleared(tx, nowMs, cleared, revision)
  // The provider answered what an operator could have decided.
  if (ctx.config.screeningUrl !== undefined)
    await withdrawReviews(tx, nowMs, [...cleared, ...rowsOf('denied')])
  await recordChanges(
    tx,
    nowMs,
    cleared.map(({ entityId, id, evaluation: { ruleName, actions } }) => ({
      entityId,
      actor,
      type: 'transaction.cleared',
      resourceId: id,
      data: { state: 'CLEARED', ruleName, actions },
    })),
  )
}

const actor = 'screening'

type Outcome = 'cleared' | 'clearedAgain' | 'review' | 'waits' | 'denied'

/** A later screening only denies: what an operator approved, or needed no review, is not asked again. */
function outcomeOf(row: ScreenedTransaction, config: Config): Outcome {
  const { evaluation, screenedRevision, isTest } = row
  if (denies(evaluation)) return 'denied'
  if (screenedRevision !== null) return 'clearedAgain'
  if (row.awaitsProvider) return 'waits'
  if (!evaluation.actions.includes('REVIEW')) return 'cleared'
  const reviewer = reviewerOf(isTest, config)
  if (reviewer === 'operator') return 'review'
  return reviewer === 'approve' ? 'cleared' : 'denied'
}

async function freezeWallets(tx: Db, ctx: EngineCtx, screened: readonly ScreenedTransaction[]) {
  const wallets = new Map(
    screened.flatMap(({ evaluation, entityId, walletId }) =>
      walletId !== null && evaluation.actions.includes('FREEZE_WALLET')
        ? [[walletId, { entityId, walletId }] as const]
        : [],
    ),
  )
  // In one order for all workers, which wait for each other here.
  const ordered = [...wallets.values()].sort((one, other) => (one.entityId < other.entityId ? -1 : 1))
  for (const wallet of ordered) await freeze({ db: tx, clock: ctx.clock, actor }, wallet)
}

async function deny(tx: Db, ctx: EngineCtx, denied: readonly ScreenedTransaction[], revision: number) {
  const rows = denied.map((row) => {
    const { ruleName = '' } = row.evaluation
    return { ...row, ruleName, details: `screening denies it (${ruleName}); nothing was signed or sent` }
  })
  await setEvaluations(tx, ctx.clock.nowMs(), rows, revision)
  await denyUnsigned(tx, ctx, rows)
}

async function holdForReview(
  tx: Db,
  ctx: EngineCtx,
  reviewed: readonly ScreenedTransaction[],
  revision: number,
): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const details = 'it waits until an operator decides about it'
  await setEvaluations(
    tx,
    nowMs,
    reviewed.map((row) => ({ ...row, details })),
    revision,
  )
  await openReviews(
    tx,
    nowMs,
    reviewed.map(({ entityId, id, evaluation: { ruleName = '' } }) => ({
      entityId,
      id,
      ruleName,
      resource: 'transaction',
      state: 'pending',
    })),
  )
}

/** An operator can decide as long as the provider does not: without an answer, nothing is cleared and nothing denied. */
async function holdForProvider(
  tx: Db,
  ctx: EngineCtx,
  waiting: readonly ScreenedTransaction[],
): Promise<void> {
  const [first] = waiting
  if (!first) return
  const nowMs = ctx.clock.nowMs()
  await showWaitReason(tx, nowMs, waiting, 'it waits for the provider of screening, or for an operator')
  await openReviews(
    tx,
    nowMs,
    waiting.map(({ entityId, id }) => ({
      entityId,
      id,
      resource: 'transaction',
      state: 'pending',
      ruleName: 'Screening Provider',
    })),
  )
  const deferrals = waiting.map(({ entityId, id, createDate }) => {
    return { entityId, key: id, waitedMs: nowMs - Date.parse(createDate) }
  })
  await defer(tx, 'screening', first.blockchain, deferrals)
}
