import type { UserKey } from '#custody/index'
import { insertSpentIf } from '#custody/index'
import { takeKey } from '#custody/sealing/index'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { IdentityCtx } from '../identity.ts'
import type { GuessRef } from '../store/user-guesses.ts'
import {
  findUserKey,
  findWrap,
  renewWrap,
  type SecretKind,
  type UserRef,
  type WrapRow,
} from '../store/user-keys.ts'
import { countOf, secretIn } from './fields.ts'
import { clearGuesses, countGuess, wrongError } from './guesses.ts'
import type { Stretch } from './stretch.ts'
import { fieldsOf, openSubmission, type Purpose, type Submission, type SubmittedField } from './submission.ts'
import { isOutdated, unwrapKey, type Wrapping, wrapKey } from './wraps.ts'

/** A submission while it is handled. */
type Handled = {
  sha256: Buffer
  /** Undefined when it does not open: `spend` refuses it. */
  fields: readonly SubmittedField[] | undefined
  stretch: Stretch
}

/** Opens a submission at its turn, and wipes what it held afterwards. */
export const withSubmission = <Result>(
  ctx: IdentityCtx,
  submission: Submission,
  purpose: Purpose,
  work: (handled: Handled) => Promise<Result>,
): Promise<Result> =>
  ctx.identity.stretcher.run(userOf(ctx, submission), async (stretch) => {
    const { sha256, plain } = openSubmission(submission, purpose)
    try {
      const fields = plain && fieldsOf(plain, purpose)
      if (plain && !fields) throw new ApiError('submissionUnfit')
      return await work({ sha256, fields, stretch })
    } finally {
      plain?.fill(0)
    }
  })

/** Spends a submission that needs no guess. Throws when it does not open, or was used before. */
export async function spend(ctx: IdentityCtx, { sha256, fields }: Handled): Promise<void> {
  const spent = { entityId: ctx.entity.id, sha256, createDate: formatInstant(ctx.clock.nowMs()) }
  const isFirst = await ctx.database.tx((tx) => insertSpentIf(tx, spent, fields !== undefined))
  if (!isFirst) throw new ApiError('submissionRefused')
}

export const userOf = (ctx: IdentityCtx, { userId }: Submission): UserRef => ({
  entityId: ctx.entity.id,
  userId,
})

/** The user's key for this request: wallet keys are sealed under it. */
export const userKeyOf = ({ vault, user }: Pick<Wrapping, 'vault' | 'user'>, key: Buffer): UserKey => ({
  ...user,
  walletKey: { outer: vault.root, inner: takeKey(Buffer.from(key)) },
})

/** The wrap that a submission opens: of the PIN, of the answers, of a device, or of the recovery secret. */
export type Way = { kind: SecretKind; slot: string }

/** A user's key while work is done with it; its bytes and the fields are wiped afterwards. */
export type Opened = { key: Buffer; fields: readonly SubmittedField[]; at: Wrapping; by: WrapRow }

const missing = {
  pin: 'pinMissing',
  answers: 'questionsMissing',
  device: 'deviceUnknown',
  recovery: 'deviceUnknown',
} as const

/**
 * Opens the user's key with the secret in a submission, outside of any database transaction, and runs `work` with it. A guess
 * at a PIN or at answers is counted before it is compared. `check` refuses a submission that breaks a rule before it counts.
 */
export async function withOpenedKey<Result>(
  ctx: IdentityCtx,
  submission: Submission,
  purpose: Purpose,
  { kind, slot }: Way,
  work: (opened: Opened) => Promise<Result>,
  check: (fields: readonly SubmittedField[]) => void = () => undefined,
): Promise<Result> {
  const user = userOf(ctx, submission)
  const row = await findUserKey(ctx.database, user)
  const wrap = row && (await findWrap(ctx.database, user, kind, slot))
  if (!row || !wrap) throw new ApiError(missing[kind])
  return withSubmission(ctx, submission, purpose, async (handled) => {
    const { fields, stretch } = handled
    if (fields) check(fields)
    if (fields && kind === 'answers' && countOf(fields, 'A') !== row.questions!.length)
      throw new ApiError('submissionUnfit', `Answer each of the ${row.questions!.length} questions.`)
    const at = { vault: ctx.custody.vault, user, sealedSecret: row.sealedSecret, stretch }
    const { key, by } = await compare(ctx, at, wrap, handled)
    try {
      return await work({ key, fields: fields!, at, by })
    } finally {
      key.fill(0)
    }
  })
}

/** Spends the submission, counts the guess, compares it, and clears the guesses when it is right. Random secrets need no count. */
async function compare(
  ctx: IdentityCtx,
  at: Wrapping,
  wrap: WrapRow & { kind: SecretKind },
  handled: Handled,
): Promise<Pick<Opened, 'key' | 'by'>> {
  const { kind } = wrap
  const secret = handled.fields && secretIn(handled.fields, kind)
  try {
    if (kind !== 'pin' && kind !== 'answers') {
      // Nothing is stored of a wrong secret: tries have no limit, and must not fill a table.
      const key = secret && (await unwrapKey(at, secret, wrap))
      if (secret && !key) throw new ApiError('deviceUnknown')
      await spend(ctx, handled).catch((error) => {
        key?.fill(0)
        throw error
      })
      return { key: key!, by: wrap }
    }
    const ref: GuessRef = { ...at.user, kind }
    const counted = await countGuess(ctx, ref, { sha256: handled.sha256, opens: secret !== undefined })
    const key = await unwrapKey(at, secret!, wrap)
    if (!key) throw wrongError(ref, counted)
    const renewed = isOutdated(wrap, ctx.identity.stretcher.cost)
      ? await wrapKey(at, { kind, slot: wrap.slot, secret: secret! }, key, ctx.identity.stretcher.cost)
      : undefined
    failpoint('before-guess-clear')
    await ctx.database.tx(async (tx) => {
      await clearGuesses(ctx, tx, ref, counted.guess)
      if (renewed) await renewWrap(tx, at.user, wrap, renewed, formatInstant(ctx.clock.nowMs()))
    })
    return { key, by: renewed ?? wrap }
  } finally {
    secret?.fill(0)
  }
}
