import { seal, withUnsealed } from '#custody/sealing/index'
import type { ErrorName } from '#lib/error-kinds'
import { ApiError } from '#lib/errors'
import { sealedAnswer } from './contexts.ts'
import type { IdentityCtx } from './identity.ts'
import { findAnswer, insertAnswer } from './store/sessions.ts'

/** Keeps an answer that holds tokens, for requests that repeat it, as long as the longest-lived of them. */
export const keepAnswer = (ctx: IdentityCtx, id: string, answer: object, lifeMs: number) => {
  const { db, entity, custody } = ctx
  const nowMs = ctx.clock.nowMs()
  const sealed = seal(custody.vault.root, sealedAnswer(entity.id, id), Buffer.from(JSON.stringify(answer)))
  return insertAnswer(db, entity.id, { id, sealed, expireMs: nowMs + lifeMs, nowMs })
}

/** The answer that was kept; `undefined` after its life. */
export async function findKeptAnswer(ctx: IdentityCtx, id: string): Promise<object | undefined> {
  const { db, entity, custody } = ctx
  const found = await findAnswer(db, entity.id, id, ctx.clock.nowMs())
  if (!found) return undefined
  return withUnsealed(custody.vault.root, sealedAnswer(entity.id, id), found.sealed, (plain) =>
    JSON.parse(plain.toString('utf8')),
  )
}

/** The answer that was kept, or the error `expired` when its tokens have expired. */
export async function keptAnswer(ctx: IdentityCtx, id: string, expired: ErrorName): Promise<object> {
  const found = await findKeptAnswer(ctx, id)
  if (!found) throw new ApiError(expired)
  return found
}
