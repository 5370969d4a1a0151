import type { UnifiedProof } from '#engines/unified-balance/index'
import { formatAmount } from '#lib/amounts'
import { tableLines } from './table.ts'

const columns = ['held', 'booked', 'reserved', 'unburned', 'gap'] as const

const shownChain = ({ blockchain, decimals, ...sums }: UnifiedProof['chains'][number]) => {
  const shown = (atomic: bigint) => formatAmount(atomic, decimals)
  return {
    chain: `${blockchain} at block ${sums.blockNumber}`,
    held: shown(sums.heldAtomic),
    booked: shown(sums.bookedAtomic),
    reserved: shown(sums.reservedAtomic),
    unburned: shown(sums.unburnedAtomic),
    gap: shown(sums.gapAtomic),
  }
}

/** Chains whose contract ever got anything. */
const used = ({ chains }: UnifiedProof) => chains.filter(({ depositedAtomic }) => depositedAtomic > 0n)

export const unifiedGapCount = ({ chains, errors }: UnifiedProof): number =>
  errors.length + chains.filter(({ gapAtomic }) => gapAtomic > 0n).length

export const unifiedLines = (proof: UnifiedProof): string[] => [
  ...(used(proof).length > 0
    ? ['unified balances', ...tableLines(used(proof).map(shownChain), ['chain', ...columns])]
    : []),
  ...proof.errors.map(({ what, id }) => `UNIFIED BALANCES: ${what} (${id})`),
]

export const unifiedJson = (proof: UnifiedProof) => ({
  chains: used(proof).map(shownChain),
  errors: proof.errors,
})
