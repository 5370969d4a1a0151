import type { Chain } from '#chains/chain'
import type { Block, HashAt } from '#chains/facets/blocks'
import type { EngineCtx } from '#engines/ctx'
import { agreedContents } from './agreed-contents.ts'
import { alarmDisagreement, logAgreement } from './endpoint-agreement.ts'
import { canonicalHashAt } from './store/blocks.ts'
import type { ConfirmedHeights } from './store/steps.ts'

/**
 * Returns the highest complete and final blocks when `block` is the head. Complete: it has the network's confirmations, and a
 * quorum agrees on hash and contents. Final: a quorum also calls it finalized, or it is deep enough on a chain without that
 * tag. While endpoints disagree both are undefined, with an alarm; engines defer irreversible actions.
 */
export async function confirmedHeights(
  ctx: EngineCtx,
  chain: Chain,
  block: Block,
): Promise<ConfirmedHeights> {
  const { blockchain } = chain.network
  const confirmedNumber = block.number - chain.confirmations + 1
  const hashAt = async (number: number) =>
    number === block.number ? block.hash : canonicalHashAt(ctx.database, blockchain, number)
  if (confirmedNumber < 0) return { completeTo: confirmedNumber, finalTo: undefined }
  const named = await chain.blocks.agreedUpTo(confirmedNumber, hashAt)
  const { upTo: completeTo, said } = await agreedContents(ctx, chain, block, named)
  if (completeTo === undefined) {
    alarmDisagreement(ctx, chain, confirmedNumber, said)
    return { completeTo, finalTo: undefined }
  }
  logAgreement(ctx, chain, completeTo)
  const final = await finalNumber(chain, block, hashAt)
  return { completeTo, finalTo: final === undefined ? undefined : Math.min(completeTo, final) }
}

/** Returns the highest final block; `undefined` while the endpoints do not report it, or report one that we do not follow. */
async function finalNumber(chain: Chain, block: Block, hashAt: HashAt): Promise<number | undefined> {
  const finalized = await chain.blocks.finalized()
  if (finalized === 'no tag') return block.number - chain.blocks.finalityDepth + 1
  if (finalized === 'unknown') return undefined
  const ours = finalized.number > block.number ? undefined : await hashAt(finalized.number)
  return ours === undefined || ours === finalized.hash ? finalized.number : undefined
}
