/**
 * Completes messages that enough attesters have signed, under a lock of the block that holds the message: one that was orphaned
 * meanwhile is never attested.
 */
import { joinSignatures } from '#chains/crosschain/attestation'
import { listAttestationKeys } from '#custody/installation/index'
import type { EngineCtx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import type { Hex } from '#lib/hex'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { lockedAmong } from './attest.ts'
import { attesterAddresses } from './attesters.ts'
import { type MessageChain, messageChains } from './networks.ts'
import { setAttested } from './store/messages.ts'
import { claimSigned, deleteProposals, proposalsWait, type SignedProposal } from './store/proposals.ts'

const batchMax = 50

/** Completes the messages of a chain that have their signatures; returns whether there may be more. */
export async function completeMessages(ctx: EngineCtx, source: MessageChain): Promise<boolean> {
  if (!(await proposalsWait(ctx.database, source.blockchain))) return false
  const completed = await ctx.database.tx((tx) => completeBatch(ctx, tx, source))
  if (completed.length === 0) return false
  failpoint('after-completion-commit')
  const destinations = new Set(completed.map(({ destinationDomain }) => destinationDomain))
  for (const { domain, blockchain } of messageChains(ctx))
    if (destinations.has(domain)) await announceWork(ctx.database, blockchain)
  return completed.length === batchMax
}

async function completeBatch(
  ctx: EngineCtx,
  tx: Db,
  { blockchain }: MessageChain,
): Promise<readonly SignedProposal[]> {
  const threshold = ctx.config.attestationThreshold
  const own = (await listAttestationKeys(tx, 'message')).map(({ address }) => address)
  const attesters = [...own, ...attesterAddresses(ctx.config)]
  const signed = await claimSigned(tx, blockchain, { threshold, attesters, limit: batchMax })
  if (signed.length === 0) return []
  const canonical = await lockedAmong(tx, blockchain, signed)
  const standing = signed.filter(({ blockHash }) => canonical.has(blockHash))
  const joined = standing.map(async ({ signatures, ...filled }) => {
    return { ...filled, attestation: await joinSignatures(filled.digest as Hex, signatures) }
  })
  await setAttested(tx, await Promise.all(joined), ctx.clock.nowMs())
  await deleteProposals(
    tx,
    standing.map(({ id }) => id),
  )
  if (standing.length > 0) failpoint('before-completion-commit')
  return standing
}
