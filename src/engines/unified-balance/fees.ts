import type { UnifiedChain } from './networks.ts'

/** Base fees in millionths of a coin, by the domain of the source: about what a burn costs there. */
const baseFees: Readonly<Record<number, bigint>> = {
  0: 2_000_000n,
  1: 20_000n,
  2: 1_500n,
  3: 10_000n,
  6: 10_000n,
  7: 1_500n,
  10: 1_000n,
}
const otherBaseFeeAtomic = 10_000n

/** Half of a basis point of what leaves a chain. */
const transferFeePart = { numerator: 5n, denominator: 100_000n }

/** The price of the delivery on the destination, beside its gas. */
const forwardingAtomic = 200_000n

export type IntentFee = { baseAtomic: bigint; transferAtomic: bigint; totalAtomic: bigint }

export const baseFeeAt = (domain: number): bigint => baseFees[domain] ?? otherBaseFeeAtomic

/** The fee of one transfer in base units, without forwarding. Transfers within a chain have no transfer fee. */
export function feeOf(
  source: Pick<UnifiedChain, 'domain'>,
  destination: Pick<UnifiedChain, 'domain'>,
  valueAtomic: bigint,
): IntentFee {
  const baseAtomic = baseFeeAt(source.domain)
  const { numerator, denominator } = transferFeePart
  const transferAtomic =
    source.domain === destination.domain ? 0n : (valueAtomic * numerator + denominator - 1n) / denominator
  return { baseAtomic, transferAtomic, totalAtomic: baseAtomic + transferAtomic }
}

/** The fee for the delivery of a transfer: the gas of a mint costs about that of a burn. */
export const forwardingFeeOf = (destination: Pick<UnifiedChain, 'domain'>): bigint =>
  forwardingAtomic + baseFeeAt(destination.domain)
