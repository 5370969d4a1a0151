import type { Ctx } from '#engines/ctx'
import { findTransaction } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'

/** A transaction as the answers of the operations that create or change one show it. */
export async function transactionAsItIs(ctx: Ctx, id: string) {
  const row = await findTransaction(ctx.db, { entityId: ctx.entity.id }, id)
  if (!row) throw new ApiError('transactionNotFound')
  return { id, state: row.state }
}

/** The answer to repeats of a request that creates or changes a transaction. */
export const createdOnce = {
  conflict: 'idempotencyKeyReused',
  resourceIdOf: (result: { id: string }) => result.id,
  reload: transactionAsItIs,
} as const
