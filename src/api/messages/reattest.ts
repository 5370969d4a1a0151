import { askAgain } from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import { ApiError } from '#lib/errors'

/** Asks for an attestation without an end, in place of one that has expired or will. */
export async function reattest(ctx: Ctx, nonce: string) {
  const [asked] = await askAgain(ctx.db, nonce.toLowerCase())
  if (!asked) throw new ApiError('messageNotAttested')
  await announceWork(ctx.db, asked.blockchain)
  return { message: 'The message is attested again once its block is final.', nonce: nonce.toLowerCase() }
}
