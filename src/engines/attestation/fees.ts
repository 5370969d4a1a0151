import type { Chain } from '#chains/chain'
import { confirmedThreshold, finalizedThreshold } from '#chains/crosschain/message'

/** Hundredths of a percent that a burn pays for an attestation before it is final; longer finality costs more on public networks. */
const fastBasisPoints: Partial<Record<string, bigint>> = { LINEA: 14n, 'LINEA-SEPOLIA': 14n }
const usualBasisPoints = 1n
const wholeBasisPoints = 10_000n

/** Fees for the delivery on the other chain, in millionths of a coin. A message is delivered for the middle one. */
export const forwardFees = { low: 150_000, med: 200_000, high: 250_000 } as const

const basisPointsOf = ({ network: { blockchain } }: Chain) => fastBasisPoints[blockchain] ?? usualBasisPoints

/** The fee for an attestation before the burn is final, in base units, rounded up. */
export const fastFee = (source: Chain, amountAtomic: bigint): bigint =>
  (amountAtomic * basisPointsOf(source) + wholeBasisPoints - 1n) / wholeBasisPoints

/** The fees for burns on a chain, by the finality that is asked for; `minimumFee` in basis points. */
export const burnFees = (source: Chain) => [
  { finalityThreshold: confirmedThreshold, minimumFee: Number(basisPointsOf(source)) },
  { finalityThreshold: finalizedThreshold, minimumFee: 0 },
]
