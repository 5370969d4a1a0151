import type { Ctx } from '#engines/ctx'
import { keptAnswer, tokenIdOf } from '#identity/index'
import type { ErrorName } from '#lib/error-kinds'

/** A repeated request gets the tokens of the first one, by the id in one of them, until they have expired. */
export const kept = <Answer>(tokenOf: (answer: Answer) => string, expired: ErrorName) => ({
  conflict: 'idempotencyKeyReused' as const,
  expired,
  resourceIdOf: (answer: Answer) => tokenIdOf(tokenOf(answer)),
  reload: (ctx: Ctx, id: string) => keptAnswer(ctx, id, expired),
})
