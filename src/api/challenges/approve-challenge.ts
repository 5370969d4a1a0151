import { requireAllowedOrigin } from '#api/allowed-origin'
import type { UserKey } from '#custody/index'
import { findUserWalletSet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { findKeptAnswer, keepAnswer, withEncryptionKey } from '#identity/index'
import {
  addDevice,
  changePin,
  type KeyChange,
  openWithDevice,
  openWithPin,
  type Purpose,
  restorePin,
  type Submission,
  setDevice,
  setLogin,
  setPin,
  storeKeyChange,
} from '#identity/user-keys/index'
import type { ErrorName } from '#lib/error-kinds'
import { ApiError, notFound } from '#lib/errors'
import { recordChanges } from '#runtime/record/store'
import { challengeMs, challengeOwner } from './create-challenge.ts'
import { type ApproverState, approvesOnDevice, keyStateOf } from './key-kinds.ts'
import { challengeKindOf } from './kinds.ts'
import { statusOf } from './show-challenge.ts'
import { type ChallengeRow, completeChallenge, failChallenge, findChallenge, lockChallenge } from './store.ts'
import type { ChallengeOutcome } from './types.ts'

/** The challenge of the user of this request; 155116 when the user has none with this id. */
export async function requireChallenge(ctx: Ctx, id: string): Promise<ChallengeRow> {
  const row = await findChallenge(ctx.db, challengeOwner(ctx), id)
  if (!row) throw notFound('challenge', id, 'challengeNotFound')
  return row
}

/** The purpose of the submission that approves the challenge now. Throws when the user cannot approve it as things are. */
export function purposeFor(
  { user }: Ctx,
  { type }: ChallengeRow,
  { opensWith, devices, logsIn, opensByLogin }: ApproverState,
): Purpose {
  const { approval } = challengeKindOf(type)
  const deviceId = user!.deviceId
  if (approval === 'initialize') {
    if (opensWith) throw new ApiError('userInitialized')
    if (deviceId !== undefined) return opensByLogin ? 'setLogin' : 'setDevice'
    if (logsIn) throw approvesOnDevice()
    return 'setPin'
  }
  if (approval !== 'open') return approval
  if (!opensWith) throw new ApiError('pinMissing')
  if (opensWith === 'pin') return 'open'
  if (deviceId === undefined) throw approvesOnDevice()
  if (opensByLogin && !devices.includes(deviceId))
    throw new ApiError('deviceUnknown', 'This login has ended: let the user log in again.')
  return devices.includes(deviceId) ? 'openWithDevice' : 'addDevice'
}

type Submitted = { params: { id: string }; body: { purpose: string; submission: string; origin?: string } }

/** The user's key for this approval, and the change of its PIN or device where that is what was asked. */
type OpenedKey = { key: UserKey; change?: KeyChange }

/**
 * Opens the user's key with what the page submitted, outside of a `tx`: a guess is counted before it is compared. Resolves to
 * `undefined` for a challenge that is complete already, so that a repeated approval costs no guess. `sha256` identifies what was sent
 * where that was in another protocol.
 */
export async function prepareApproval(
  ctx: Ctx,
  { params, body }: Submitted,
  sha256?: Buffer,
): Promise<OpenedKey | undefined> {
  await requireAllowedOrigin(ctx, body.origin)
  const row = await requireChallenge(ctx, params.id)
  if (row.status === 'COMPLETE') return undefined
  requireOpen(ctx, row)
  const purpose = purposeFor(ctx, row, await keyStateOf(ctx))
  if (purpose === 'addDevice' || body.purpose !== purpose)
    throw new ApiError('submissionUnfit', `This challenge needs a submission for ${purpose} now.`)
  await challengeKindOf(row.type).ready?.(ctx, JSON.parse(row.request))
  const deviceId = ctx.user!.deviceId ?? ''
  return withSubmissionOf(ctx, params.id, body.submission, async (made) => {
    const submission = { ...made, sha256 }
    if (purpose === 'open') return { key: await openWithPin(ctx, submission) }
    if (purpose === 'openWithDevice') return { key: await openWithDevice(ctx, submission, deviceId) }
    const change = await changes[purpose as keyof typeof changes](ctx, submission, deviceId)
    return { key: change.userKey, change }
  })
}

const changes = { setPin, changePin, restorePin, setDevice, setLogin }

const withSubmissionOf = <Result>(
  ctx: Ctx,
  challengeId: string,
  sealed: string,
  work: (submission: Submission) => Promise<Result>,
): Promise<Result> =>
  withEncryptionKey(ctx, ctx.user!.tokenId, (encryptionKey) =>
    work({ userId: ctx.user!.id, challengeId, sealed, encryptionKey }),
  )

function requireOpen(ctx: Ctx, row: ChallengeRow): void {
  const status = statusOf(row, ctx.clock.nowMs())
  if (status === 'EXPIRED') throw new ApiError('challengeExpired')
  if (status !== 'PENDING')
    throw new ApiError('challengeInvalid', 'The challenge has failed: make another one.')
}

/** Carries an approved challenge out, once, in the `tx` of the request. A refusal for good ends it as FAILED. */
export async function approveChallenge(
  ctx: Ctx,
  { params: { id } }: { params: { id: string } },
  opened: OpenedKey | undefined,
): Promise<void> {
  const owner = challengeOwner(ctx)
  const row = await lockChallenge(ctx.db, owner, id)
  if (!row) throw notFound('challenge', id, 'challengeNotFound')
  if (row.status === 'COMPLETE' || !opened) return
  requireOpen(ctx, row)
  const nowMs = ctx.clock.nowMs()
  const { correlationIds, result } = await carryOut(ctx, row, opened).catch((error) => {
    if (endsChallenge(error)) ctx.afterRollback.push(() => noteFailure(ctx, row, error))
    throw error
  })
  if (result) await keepAnswer(ctx, id, result, challengeMs)
  await completeChallenge(ctx.db, owner, id, { nowMs, correlationIds })
  const { actor, requestId, entity } = ctx
  await recordChanges(ctx.db, nowMs, [
    { entityId: entity.id, actor, type: 'challenge.completed', resourceId: id, requestId },
  ])
}

async function carryOut(ctx: Ctx, row: ChallengeRow, { key, change }: OpenedKey): Promise<ChallengeOutcome> {
  const stored = change && (await storeKeyChange(ctx, change))
  const walletSetId =
    stored?.walletSetId ?? (await findUserWalletSet(ctx.db, ctx.entity.id, ctx.user!.id))?.id ?? ''
  return challengeKindOf(row.type).execute(ctx, JSON.parse(row.request), key, walletSetId)
}

/** Trouble of the server, too many requests and limits that time lifts are no verdict on the challenge. */
const endsChallenge = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status < 500 && error.status !== 429 && !passing.includes(error.kind)

const passing: readonly ErrorName[] = ['pendingQueueFull', 'sponsoredGasExceeded']

function noteFailure(ctx: Ctx, { id }: ChallengeRow, error: ApiError): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const { actor, requestId, entity } = ctx
  return ctx.database.tx(async (tx) => {
    if (!(await failChallenge(tx, challengeOwner(ctx), id, error, nowMs))) return
    const data = { code: error.code }
    await recordChanges(tx, nowMs, [
      { entityId: entity.id, actor, type: 'challenge.failed', resourceId: id, requestId, data },
    ])
  })
}

/** Lets the device of this session open the user's key, by the recovery secret; outside of a `tx`. */
export async function prepareDevice(
  ctx: Ctx,
  { params, body }: { params: { id: string }; body: { submission: string; origin?: string } },
): Promise<KeyChange> {
  await requireAllowedOrigin(ctx, body.origin)
  const row = await requireChallenge(ctx, params.id)
  requireOpen(ctx, row)
  // A browser may lose the secret of its device; with the recovery code the device gets another one.
  if (!['addDevice', 'openWithDevice'].includes(purposeFor(ctx, row, await keyStateOf(ctx))))
    throw new ApiError('submissionUnfit', 'The device of this session needs no recovery.')
  return withSubmissionOf(ctx, params.id, body.submission, (submission) =>
    addDevice(ctx, submission, ctx.user!.deviceId!),
  )
}

/** The result of a challenge that signed something. It is kept for an hour after the approval, and absent later. */
export const resultOf = (ctx: Ctx, { id, status, type }: ChallengeRow): Promise<object | undefined> =>
  status === 'COMPLETE' && type.startsWith('SIGN_') ? findKeptAnswer(ctx, id) : Promise.resolve(undefined)
