import { invalid, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'
import type { CustodyCtx } from './custody.ts'
import { findUser, insertUser, type User } from './store/users.ts'

/** Makes a user; 155101 when the entity has one with this id. */
export async function createUser(ctx: CustodyCtx, userId: string): Promise<User> {
  const { db, entity, actor, requestId } = ctx
  const nowMs = ctx.clock.nowMs()
  const id = newId(nowMs)
  if (!(await insertUser(db, entity.id, { id, userId, nowMs })))
    throw invalid('userId', 'is the id of a user of this entity: choose another one', userId, 'userExists')
  await recordChanges(db, nowMs, [
    { entityId: entity.id, actor, type: 'user.created', resourceId: id, requestId },
  ])
  return requireUser(ctx, userId)
}

/** Returns the user; 155102 when the entity has none with this id. */
export async function requireUser(ctx: CustodyCtx, userId: string, location = 'id'): Promise<User> {
  const user = await findUser(ctx.db, ctx.entity.id, userId, ctx.clock.nowMs())
  if (!user) throw notFound('user', userId, 'userNotFound', location)
  return user
}
