import { decodeBurnIntents } from '#chains/crosschain/transfer-payload'
import { transferSpecHash } from '#chains/crosschain/transfer-spec'
import type { Ctx } from '#engines/ctx'
import {
  findIntent,
  findUnifiedTransfer,
  intentsOf,
  signedIntentsOf,
  type UnifiedTransfer,
  unifiedChains,
} from '#engines/unified-balance/index'
import { invalid } from '#lib/errors'
import { hexOf } from '#lib/hex'

/** The state of a transfer. What is not known is absent, never null: clients refuse null. */
export async function getUnifiedTransfer(ctx: Ctx, id: string) {
  const transfer = await findUnifiedTransfer(ctx.db, id)
  const destination = unifiedChains(ctx).find(({ blockchain }) => blockchain === transfer?.blockchain)
  if (!transfer || !destination)
    throw invalid({
      at: 'id',
      reason: 'matches no transfer of this server',
      value: id,
      kind: 'unifiedTransferNotFound',
    })
  const intents = await intentsOf(ctx.db, id)
  const { forwarded, failureReason, forwardDelay, mintTxHash, fees, payload, signature, expirationBlock } =
    transfer
  return {
    status: shownStatus(transfer),
    destinationDomain: destination.domain,
    burnIntents: intents.map(({ specHash, maxBlockHeight, maxFeeAtomic }) => ({
      transferSpecHash: specHash,
      maxBlockHeight: String(maxBlockHeight),
      maxFee: String(maxFeeAtomic),
    })),
    ...(mintTxHash !== null && { transactionHash: mintTxHash }),
    forwardingDetails: {
      forwardingEnabled: forwarded,
      ...(failureReason !== null && { failureReason }),
      ...(forwardDelay !== null && { delayReason: forwardDelay }),
    },
    fees,
    attestation: {
      payload: hexOf(payload),
      signature: hexOf(signature),
      expirationBlock: String(expirationBlock),
    },
  }
}

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
  const { spec } = decodeBurnIntents(signed.intents).find((each) => transferSpecHash(each.spec) === specHash)!
  return {
    ...spec,
    value: String(spec.value),
    transferSpecHash: specHash,
    transferId: transfer.id,
    status: shownStatus(transfer),
  }
}

// The attestation of a failed mint holds until its last block: the reservation returns no earlier.
const shownStatus = ({ state, failureReason }: UnifiedTransfer) =>
  state === 'pending' && failureReason !== null ? 'failed' : state
