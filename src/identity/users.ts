import { invalid, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'
import type { IdentityCtx } from './identity.ts'
import { endSessionsOf } from './store/sessions.ts'
import { removeTokensOf } from './store/tokens.ts'
import { removeDevices } from './store/user-keys.ts'
import { findUser, insertUser, type User, updateUserStatus } from './store/users.ts'

/** Makes a user; 155101 when the entity has one with this id. */
export async function createUser(ctx: IdentityCtx, userId: string): Promise<User> {
  const { db, entity, actor, requestId } = ctx
  const nowMs = ctx.clock.nowMs()
  const id = newId(nowMs)
  if (!(await insertUser(db, entity.id, { id, userId, nowMs })))
    throw invalid({
      at: 'userId',
      reason: 'is the id of a user of this entity: choose another one',
      value: userId,
      kind: 'userExists',
    })
  await recordChanges(db, nowMs, [
    { entityId: entity.id, actor, type: 'user.created', resourceId: id, requestId },
  ])
  return requireUser(ctx, userId)
}

/** The part of a scope that finds users; an operator's command has no request. */
type UserScope = Pick<IdentityCtx, 'clock' | 'db'> & { entity: { id: string } }

/** Returns the user; 155102 when the entity has none with this id. */
export async function requireUser(ctx: UserScope, userId: string, location = 'id'): Promise<User> {
  const user = await findUser(ctx.db, ctx.entity.id, userId, ctx.clock.nowMs())
  if (!user) throw notFound('user', userId, 'userNotFound', location)
  return user
}

/** The scope of a decision of an operator about a user: of a request, or of a command, which has no request. */
type DecisionScope = UserScope & { actor: string; requestId?: string }

/** Disables a user, whose tokens count no more, or enables one again. */
export async function setUserStatus(
  { db, clock, entity, actor, requestId }: DecisionScope,
  { id, userId, status }: User,
  wanted: User['status'],
): Promise<void> {
  if (status === wanted) return
  await updateUserStatus(db, entity.id, userId, wanted)
  const type = wanted === 'DISABLED' ? 'user.disabled' : 'user.enabled'
  await recordChanges(db, clock.nowMs(), [{ entityId: entity.id, actor, requestId, type, resourceId: id }])
}

/**
 * Ends all sessions and tokens of a user, and lets none of the present devices approve: one of them may be in the hands of a
 * thief. After the next login, the recovery secret lets a device approve again; a PIN stays as it is.
 */
export async function logOutUser(
  { db, clock, entity, actor, requestId }: DecisionScope,
  { id, userId }: User,
): Promise<void> {
  const nowMs = clock.nowMs()
  const sessions = await endSessionsOf(db, entity.id, userId, nowMs)
  const tokens = await removeTokensOf(db, entity.id, userId)
  const devices = await removeDevices(db, { entityId: entity.id, userId: id }, { kept: 0 })
  const data = { sessions, tokens, devices }
  const event = { entityId: entity.id, actor, requestId, type: 'user.loggedOut', resourceId: id, data }
  await recordChanges(db, nowMs, [event])
}
