import { decodeBurnIntents } from '#chains/crosschain/transfer-payload'
import { transferSpecHash } from '#chains/crosschain/transfer-spec'
import type { Ctx } from '#engines/ctx'
import { findIntent, findUnifiedTransfer, signedIntentsOf } from '#engines/unified-balance/index'
import { invalid } from '#lib/errors'
import { showIntent } from './read-intents.ts'

export async function getTransferSpec(ctx: Ctx, given: string) {
  const specHash = given.toLowerCase()
  const intent = await findIntent(ctx.db, specHash)
  const transfer = intent && (await findUnifiedTransfer(ctx.db, intent.transferId))
  if (!intent || !transfer)
    throw invalid({
      at: 'transferSpecHash',
      reason: 'matches no transfer specification of this server',
      value: given,
      kind: 'unifiedTransferNotFound',
    })
  const signed = (await signedIntentsOf(ctx.db, transfer.id)).find(({ entry }) => entry === intent.entry)!
  const found = decodeBurnIntents(signed.intents).find(({ spec }) => transferSpecHash(spec) === specHash)!
  return {
    transferSpecHash: specHash,
    transferId: transfer.id,
    status: transfer.state,
    burnIntent: showIntent(found),
  }
}
