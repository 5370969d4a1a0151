import { listAttestationKeys } from '#custody/installation/index'
import { burnFees, forwardFees, messageChains, usedAllowance } from '#engines/attestation/index'
import type { Ctx } from '#engines/ctx'
import { hexOf } from '#lib/hex'
import { formatInstant } from '#lib/time'
import { askForAllowance, askForFees, askForKeys, attestationServiceOf } from './attestation-service.ts'
import { elsewhere, sourceOf } from './list-messages.ts'

/**
 * The keys that sign messages, of this server and of other attesters: those in use, and those that were; with them those of the
 * service that answers for other domains.
 */
export async function listPublicKeys(ctx: Ctx) {
  const own = (await listAttestationKeys(ctx.db, 'message')).map(({ publicKey }) => hexOf(publicKey))
  const keys = new Set([...own, ...ctx.config.attesters.map(({ publicKey }) => publicKey)])
  const shown = [...keys].map((publicKey) => ({ publicKey, cctpVersion: 2 }))
  const service = attestationServiceOf(ctx)
  return { publicKeys: service === undefined ? shown : [...shown, ...(await askForKeys(service))] }
}

export async function listFees(
  ctx: Ctx,
  route: { source: string; destination: string },
  { forward }: { forward?: string },
) {
  const service = elsewhere(ctx, route.source, 'source')
  if (service !== undefined) return askForFees(service, route, forward)
  const source = sourceOf(ctx, route)
  const { low, med, high } = forwardFees(Number(route.destination))
  return burnFees(source.chain).map((fee) => ({
    ...fee,
    ...(forward === 'true' && { forwardFee: { low, med, medium: med, high } }),
  }))
}

const millionths = 1_000_000

/** The value of burns that can be attested before they are final now; that of the service where this server attests none. */
export async function getAllowance(ctx: Ctx) {
  const service = attestationServiceOf(ctx)
  if (service !== undefined && messageChains(ctx).length === 0) return askForAllowance(service)
  const { crosschainEnvironment, fastAllowanceAtomic } = ctx.config
  const used = await usedAllowance(ctx.db, crosschainEnvironment)
  const left = used > fastAllowanceAtomic ? 0n : fastAllowanceAtomic - used
  return { allowance: Number(left) / millionths, lastUpdated: formatInstant(ctx.clock.nowMs()) }
}
