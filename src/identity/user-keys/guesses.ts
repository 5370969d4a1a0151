/**
 * Counts guesses at a PIN or at answers. A guess is counted and committed before it is compared, so that neither parallel
 * guesses nor a crash give one back; a right one clears the guesses up to itself. The fourth guess of a run locks in the same
 * `tx`, unless it proves right. Guesses are numbered, and the number never falls, also when the database is restored:
 * `guess-files.ts`.
 */

import { insertSpentIf } from '#custody/index'
import { ApiError } from '#lib/errors'
import { formatInstant, parseInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Identity, IdentityCtx } from '../identity.ts'
import {
  type Guesses,
  type GuessRef,
  lockGuesses,
  setGuesses,
  setOverrideDate,
} from '../store/user-guesses.ts'

/** Guesses of a run; the last of them locks. */
const guessesMax = 4
/** Locks of a secret; the last of them ends only when the secret is replaced, or an operator ends it. */
const locksMax = 20
const firstLockMs = 30 * 60_000
const never = '9999-12-31T23:59:59.999Z'

const nouns = { pin: 'userPin', answers: 'userQuestions' } as const
const refusals = {
  pin: { wrong: 'pinWrong', locked: 'pinLocked' },
  answers: { wrong: 'answersWrong', locked: 'answersLocked' },
} as const

/** The state after one more guess; `undefined` while it is locked. */
export function afterGuess(state: Guesses, nowMs: number): Guesses | undefined {
  const isLocked = state.lockedUntil !== null
  if (isLocked && nowMs < parseInstant(state.lockedUntil)!) return undefined
  const run = isLocked ? unlocked({ ...state, cleared: state.counted }) : state
  const next = { ...run, counted: run.counted + 1 }
  return next.counted - next.cleared < guessesMax ? next : locked(next, nowMs)
}

/** Each lock is twice as long as the one before, over the life of the secret. */
function locked(state: Guesses, nowMs: number): Guesses {
  const locks = state.locks + 1
  const lockedUntil = locks < locksMax ? formatInstant(nowMs + firstLockMs * 2 ** (locks - 1)) : never
  return { ...state, locks, locking: state.counted, lockedDate: formatInstant(nowMs), lockedUntil }
}

const unlocked = (state: Guesses): Guesses => ({
  ...state,
  locking: null,
  lockedDate: null,
  lockedUntil: null,
})

/** The state after the guess of this number proved right. A later guess stays counted, and so does its lock. */
export function afterRight(state: Guesses, guess: number): Guesses {
  const cleared = Math.max(state.cleared, guess)
  if (state.locking !== guess) return { ...state, cleared }
  return unlocked({ ...state, cleared, locks: state.locks - 1 })
}

/** The state after the secret was replaced, or an operator ended its locks. */
const afterReset = (state: Guesses): Guesses =>
  unlocked({ ...state, counted: state.counted + 1, cleared: state.counted + 1, locks: 0 })

/** The part of a scope that changes counters; an operator's command has no request. */
type GuessScope = Pick<IdentityCtx, 'clock' | 'actor'> & {
  identity: Pick<Identity, 'guessFiles'>
  requestId?: string | undefined
}

export type Counted = { guess: number; state: Guesses }

/**
 * Spends the submission and counts a guess, in a `tx` of its own. Throws when the submission does not open or was used, and
 * while the secret is locked; then nothing is counted.
 */
export async function countGuess(
  ctx: IdentityCtx,
  ref: GuessRef,
  submission: { sha256: Buffer; opens: boolean },
): Promise<Counted> {
  const { entityId } = ref
  const nowMs = ctx.clock.nowMs()
  const spent = { entityId, sha256: submission.sha256, createDate: formatInstant(nowMs) }
  const outcome = await ctx.database.tx(async (tx) => {
    if (!(await insertSpentIf(tx, spent, submission.opens))) return undefined
    const known = await newest(ctx, tx, ref)
    const next = afterGuess(known, nowMs)
    await setGuesses(tx, ref, next ?? known)
    if (!next) return { locked: known }
    await ctx.identity.guessFiles.write(ref, next)
    if (next.locking === next.counted) await record(ctx, tx, ref, 'locked', next)
    return { guess: next.counted, state: next }
  })
  if (!outcome) throw new ApiError('submissionRefused')
  if ('locked' in outcome) throw lockedError(ref, outcome.locked)
  failpoint('after-guess-count')
  return outcome
}

/** Clears the guesses up to a right one, in `tx`. */
export async function clearGuesses(ctx: GuessScope, tx: Db, ref: GuessRef, guess: number): Promise<void> {
  const state = await newest(ctx, tx, ref)
  const next = afterRight(state, guess)
  await setGuesses(tx, ref, next)
  if (state.locking === guess) await record(ctx, tx, ref, 'unlocked', next)
  await ctx.identity.guessFiles.write(ref, next)
}

/** Begins to count anew in `tx`, because the secret was replaced by recovery. */
export async function resetGuesses(ctx: GuessScope, tx: Db, ref: GuessRef): Promise<void> {
  const next = afterReset(await newest(ctx, tx, ref))
  await setGuesses(tx, ref, next)
  await ctx.identity.guessFiles.write(ref, next)
}

/** Ends the lock of a user's PIN or answers by the decision of an operator, in `ctx.db`'s tx: all guesses are back. */
export async function overrideLock(ctx: GuessScope & { db: Db }, ref: GuessRef): Promise<void> {
  await resetGuesses(ctx, ctx.db, ref)
  await setOverrideDate(ctx.db, ref, formatInstant(ctx.clock.nowMs()))
  await record(ctx, ctx.db, ref, 'lockOverridden', undefined)
}

/** Locks the counter. A copy beside the database is ahead of it when the database was restored. */
async function newest(ctx: GuessScope, tx: Db, ref: GuessRef): Promise<Guesses> {
  const stored = await lockGuesses(tx, ref)
  const kept = await ctx.identity.guessFiles.read(ref)
  return kept && kept.counted > stored.counted ? kept : stored
}

/** The error of a wrong guess: that of the lock when it was the last of its run. */
export function wrongError(ref: GuessRef, { state }: Counted): ApiError {
  if (state.lockedUntil !== null) return lockedError(ref, state)
  const left = guessesMax - (state.counted - state.cleared)
  const tries = left === 1 ? 'One more try' : `${left} more tries`
  return new ApiError(
    refusals[ref.kind].wrong,
    `${wrongTexts[ref.kind].error} ${tries} before ${wrongTexts[ref.kind].locked} locked.`,
  )
}

const wrongTexts = {
  pin: { error: 'The PIN is wrong.', locked: 'it is' },
  answers: { error: 'An answer is wrong.', locked: 'the security questions are' },
}

function lockedError({ kind }: GuessRef, { lockedUntil }: Guesses): ApiError {
  const what = kind === 'pin' ? 'The PIN is' : 'The security questions are'
  const wayOut =
    kind === 'pin' ? 'restore it with the answers' : 'only the operator of this server can end that'
  const remedy = lockedUntil === never ? `for good: ${wayOut}` : `until ${lockedUntil}`
  return new ApiError(refusals[kind].locked, `${what} locked ${remedy}.`)
}

const record = (ctx: GuessScope, tx: Db, ref: GuessRef, what: string, state: Guesses | undefined) =>
  recordChanges(tx, ctx.clock.nowMs(), [
    {
      entityId: ref.entityId,
      actor: ctx.actor,
      type: `${nouns[ref.kind]}.${what}`,
      resourceId: ref.userId,
      requestId: ctx.requestId,
      data: state ? { locks: state.locks, lockedUntil: state.lockedUntil } : {},
    },
  ])
