import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import {
  attestTransfer,
  findAttested,
  priceTransfer,
  requireCovered,
  type UnifiedTransfer,
  verifyTransfer,
} from '#engines/unified-balance/index'
import { invalid } from '#lib/errors'
import { hexOf } from '#lib/hex'
import { readSignedIntents } from './read-intents.ts'
import type { signedIntentsSchema, unifiedTransferQuery } from './schema.ts'

/** Attests signed intents. What costs nothing is checked first, then balances, then signatures and heights. */
export async function createUnifiedTransfer(
  ctx: Ctx,
  query: Static<typeof unifiedTransferQuery>,
  body: Static<typeof signedIntentsSchema>,
) {
  const entries = readSignedIntents(body)
  const forwarded = query.enableForwarder ?? false
  const priced = priceTransfer(ctx, entries, forwarded)
  requireSize(priced.intents.length, query.maxAttestationSize)
  try {
    await requireCovered(ctx.db, priced)
    const verified = await verifyTransfer(ctx.db, priced)
    return attested(await attestTransfer(ctx, verified, ctx.receivedMs))
  } catch (refusal) {
    // A repeated request gets its attestation, although its balance is taken now and its heights may be past.
    const before = await findAttested(ctx.database, entries, forwarded)
    if (before) return attested(before)
    throw refusal
  }
}

/** Bytes of an attestation without hook data: its head and the specification. */
const attestationBytes = 40 + 340
const setHeadBytes = 8

function requireSize(intents: number, sizeMax: number | undefined): void {
  const bytes = intents * attestationBytes + (intents > 1 ? setHeadBytes : 0)
  if (sizeMax !== undefined && bytes > sizeMax)
    throw invalid({
      at: 'maxAttestationSize',
      reason: `is below the ${bytes} bytes of the attestation`,
      value: sizeMax,
    })
}

const attested = ({ id, payload, signature, fees, expirationBlock }: UnifiedTransfer) => ({
  transferId: id,
  attestation: hexOf(payload),
  signature: hexOf(signature),
  fees,
  expirationBlock: String(expirationBlock),
})
