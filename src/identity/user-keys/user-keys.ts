/**
 * The keys of users, which open only with what the user alone has. A request has two halves. In `prepare`, outside of any
 * database transaction, a function of this file opens the submission of the page and returns the opened key (`UserKey`, which
 * `createWallets`, `grantSigning` and `signNow` take as they take an entity secret) or a `KeyChange`; the verb stores that
 * with `storeKeyChange` in its `tx`. Guesses and spent submissions are committed in `prepare`.
 *
 * Errors: 155118 the submission does not open or was used; 155117 its fields are not those of the purpose; 155124 a new PIN,
 * a question or an answer breaks its rule; 155110, 155111, 155113 there is no PIN, no question, no such device; 155112, 155115
 * wrong; 155119, 155120 locked; 155107, 155108 set already; 429 too many at once.
 */

import type { UserKey } from '#custody/index'
import { addUserWalletSet } from '#custody/wallets/index'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import type { IdentityCtx } from '../identity.ts'
import type { GuessKind } from '../store/user-guesses.ts'
import {
  findUserKey,
  findWrap,
  insertQuestions,
  insertUserKey,
  putWrap,
  removeDevices,
  renewWrap,
  type WrapRow,
} from '../store/user-keys.ts'
import { newPinIn, questionsIn, requireTwoSecrets, secretIn } from './fields.ts'
import { resetGuesses } from './guesses.ts'
import { type Opened, spend, userKeyOf, userOf, type Way, withOpenedKey, withSubmission } from './open-key.ts'
import type { Purpose, Submission, SubmittedField } from './submission.ts'
import { newUserKey, type Opener, unwrapForLogin, type Wrapping, wrapForLogin, wrapKey } from './wraps.ts'

/** A change of what opens a user's key, which `storeKeyChange` stores. */
export type KeyChange = {
  readonly userKey: UserKey
  readonly event: string
  /** The secret of a user whose key is new. */
  readonly created?: Buffer | undefined
  readonly wraps: readonly WrapRow[]
  /** The wrap that opened the key, where it has to be in force still. */
  readonly replaces?: WrapRow
  readonly questions?: readonly string[] | undefined
  /** The counter that begins anew. */
  readonly resets?: GuessKind
}

const pin: Way = { kind: 'pin', slot: '' }
const answers: Way = { kind: 'answers', slot: '' }
const recovery: Way = { kind: 'recovery', slot: '' }
const deviceOf = (deviceId: string): Way => ({ kind: 'device', slot: deviceId })

/** Opens the user's key with the PIN, for one request. */
export const openWithPin = (ctx: IdentityCtx, submission: Submission): Promise<UserKey> =>
  withOpenedKey(ctx, submission, 'open', pin, async ({ key, at }) => userKeyOf(at, key))

/** Opens the key of a user who logs in without a PIN, with the secret that the device of the session keeps. */
export const openWithDevice = (
  ctx: IdentityCtx,
  submission: Submission,
  deviceId: string,
): Promise<UserKey> =>
  withOpenedKey(ctx, submission, 'openWithDevice', deviceOf(deviceId), async ({ key, at }) =>
    userKeyOf(at, key),
  )

/** Creates the user's key with a first PIN, and the answers if the page asked for them. */
export const setPin = (ctx: IdentityCtx, submission: Submission): Promise<KeyChange> =>
  createKey(ctx, submission, 'setPin', 'userPin.set', (fields) => [
    { ...pin, secret: newPinIn(fields) },
    ...answersOf(fields),
  ])

/** Creates the key of a user who has no PIN: it opens with the secret of this device, or with the recovery secret. */
export const setDevice = (ctx: IdentityCtx, submission: Submission, deviceId: string): Promise<KeyChange> =>
  createKey(ctx, submission, 'setDevice', 'userDevice.set', (fields) => {
    requireTwoSecrets(fields)
    return [
      { ...deviceOf(deviceId), secret: secretIn(fields, 'device') },
      { ...recovery, secret: secretIn(fields, 'recovery') },
    ]
  })

/** Creates the key of a user whose login opens it: with the secret that the login gave to this device, or by another login. */
export const setLogin = (ctx: IdentityCtx, submission: Submission, deviceId: string): Promise<KeyChange> =>
  createKey(
    ctx,
    submission,
    'setLogin',
    'userLogin.set',
    (fields) => [{ ...deviceOf(deviceId), secret: secretIn(fields, 'device') }],
    'opensByLogin',
  )

/**
 * Lets the device of a login open the key, where a login does: with `secret`, which the login gives to the device. Called in the
 * `tx` of a verified login, with its result for `storeKeyChange`; undefined for a user without a key.
 */
export async function addDeviceOfLogin(
  ctx: IdentityCtx,
  userId: string,
  { deviceId, secret }: { deviceId: string; secret: Buffer },
): Promise<KeyChange | undefined> {
  const user = { entityId: ctx.entity.id, userId }
  const { vault } = ctx.custody
  const row = await findUserKey(ctx.db, user)
  const wrap = row && (await findWrap(ctx.db, user, 'login', ''))
  if (!wrap) return undefined
  const key = unwrapForLogin({ vault, user }, wrap)
  const at = { vault, user, sealedSecret: row.sealedSecret, stretch: unstretched }
  const openers = [{ ...deviceOf(deviceId), secret }]
  return wrapped(ctx, at, key, 'userDevice.added', openers).finally(() => key.fill(0))
}

/** Random secrets are not stretched. */
const unstretched = () => Promise.reject(new Error('a random secret is not stretched'))

/** Sets the security questions, once; the PIN opens the key for it. */
export const setQuestions = (ctx: IdentityCtx, submission: Submission): Promise<KeyChange> =>
  withOpenedKey(
    ctx,
    submission,
    'setQuestions',
    pin,
    async (opened) => ({
      ...(await rewrapped(ctx, opened, 'userQuestions.set', answersOf(opened.fields))),
      questions: questionsIn(opened.fields),
    }),
    (fields) => void [questionsIn(fields), wipe(answersOf(fields))],
  )

/** Devices of a user; a further one takes the place of the one that was added first. */
const devicesMax = 100

/** Replaces the PIN by a new one; the old one opens the key for it. */
export const changePin = (ctx: IdentityCtx, submission: Submission): Promise<KeyChange> =>
  withOpenedKey(
    ctx,
    submission,
    'changePin',
    pin,
    async (opened) => ({
      ...(await rewrapped(ctx, opened, 'userPin.changed', newPinOf(opened.fields))),
      replaces: opened.by,
    }),
    (fields) => wipe(newPinOf(fields)),
  )

/** Replaces a PIN that is forgotten or locked; the answers open the key for it. Guesses at the PIN begin anew. */
export const restorePin = (ctx: IdentityCtx, submission: Submission): Promise<KeyChange> =>
  withOpenedKey(
    ctx,
    submission,
    'restorePin',
    answers,
    async (opened) => ({
      ...(await rewrapped(ctx, opened, 'userPin.restored', newPinOf(opened.fields))),
      resets: 'pin' as const,
    }),
    (fields) => wipe(newPinOf(fields)),
  )

/** Lets another device open the key; the recovery secret opens it for that. */
export const addDevice = (ctx: IdentityCtx, submission: Submission, deviceId: string): Promise<KeyChange> =>
  withOpenedKey(
    ctx,
    submission,
    'addDevice',
    recovery,
    (opened) =>
      rewrapped(ctx, opened, 'userDevice.added', [
        { ...deviceOf(deviceId), secret: secretIn(opened.fields, 'device') },
      ]),
    requireTwoSecrets,
  )

const newPinOf = (fields: readonly SubmittedField[]): Opener[] => [{ ...pin, secret: newPinIn(fields) }]

const answersOf = (fields: readonly SubmittedField[]): Opener[] =>
  fields.some(({ kind }) => kind === 'A') ? [{ ...answers, secret: secretIn(fields, 'answers') }] : []

function wipe(openers: readonly Opener[]): void {
  for (const { secret } of openers) secret.fill(0)
}

async function createKey(
  ctx: IdentityCtx,
  submission: Submission,
  purpose: Purpose,
  event: string,
  openersOf: (fields: readonly SubmittedField[]) => Opener[],
  opens?: 'opensByLogin',
): Promise<KeyChange> {
  const user = userOf(ctx, submission)
  const { vault } = ctx.custody
  if (await findUserKey(ctx.database, user)) throw new ApiError('pinSet')
  return withSubmission(ctx, submission, purpose, async (handled) => {
    const { fields, stretch } = handled
    const questions = fields ? questionsIn(fields) : []
    const openers = fields ? openersOf(fields) : []
    try {
      await spend(ctx, handled)
      const { key, sealedSecret } = newUserKey(vault, user)
      const at = { vault, user, sealedSecret, stretch }
      const forLogin = opens ? [wrapForLogin(at, key)] : []
      const change = await wrapped(ctx, at, key, event, openers).finally(() => key.fill(0))
      const wraps = [...change.wraps, ...forLogin]
      return {
        ...change,
        wraps,
        created: sealedSecret,
        questions: questions.length > 0 ? questions : undefined,
      }
    } finally {
      wipe(openers)
    }
  })
}

const rewrapped = (ctx: IdentityCtx, { key, at }: Opened, event: string, openers: Opener[]) =>
  wrapped(ctx, at, key, event, openers).finally(() => wipe(openers))

async function wrapped(
  ctx: IdentityCtx,
  at: Wrapping,
  key: Buffer,
  event: string,
  openers: readonly Opener[],
): Promise<KeyChange> {
  const userKey = userKeyOf(at, key)
  const wraps: WrapRow[] = []
  for (const opener of openers) wraps.push(await wrapKey(at, opener, key, ctx.identity.stretcher.cost))
  return { userKey, event, wraps }
}

/**
 * Stores a change in `ctx.db`'s tx. The key of a new user gets a wallet set of its own, whose id is returned: `createWallets`
 * takes it with `change.userKey`.
 */
export async function storeKeyChange(
  ctx: IdentityCtx,
  change: KeyChange,
): Promise<{ walletSetId: string | undefined }> {
  const { db } = ctx
  const { userKey, created, questions } = change
  const nowMs = ctx.clock.nowMs()
  const date = formatInstant(nowMs)
  if (created && !(await insertUserKey(db, userKey, { sealedSecret: created, createDate: date })))
    throw new ApiError('pinSet')
  if (questions && !(await insertQuestions(db, userKey, questions))) throw new ApiError('questionsSet')
  for (const wrap of change.wraps) {
    if (!change.replaces) await putWrap(db, userKey, wrap, date)
    // Who knows a former PIN does not take the PIN from the user who restored it meanwhile.
    else if (!(await renewWrap(db, userKey, change.replaces, wrap, date)))
      throw new ApiError('challengeInvalid', 'The PIN was replaced meanwhile: make another challenge.')
  }
  const device = change.wraps.find(({ kind }) => kind === 'device')
  if (device) await removeDevices(db, userKey, { kept: devicesMax, newest: device.slot })
  if (change.resets) await resetGuesses(ctx, db, { ...userKey, kind: change.resets })
  const { entityId, userId } = userKey
  const { actor, requestId } = ctx
  await recordChanges(db, nowMs, [{ entityId, actor, type: change.event, resourceId: userId, requestId }])
  return { walletSetId: created ? (await addUserWalletSet(ctx, userKey)).id : undefined }
}
