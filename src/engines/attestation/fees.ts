import type { Chain } from '#chains/chain'
import { confirmedThreshold, finalizedThreshold } from '#chains/crosschain/message'
import { gasFeeAt } from '#engines/treasury/index'

const usualBasisPoints = 1n
const wholeBasisPoints = 10_000n

/** Gas of a delivery with room above what its tests measure, and of each byte of its message, which the chain logs too. */
const deliveryGas = 240_000n
const byteGas = 40n
/** A message with the hook data that asks for its delivery, and with none for others. */
const usualBytes = 408n

/** Gas beside that of a delivery by the executor: what a handler can use at most, and the work around it. */
const executionGas = 420_000n

export const deliveryCost = { gas: deliveryGas, ofByte: byteGas, ofExecution: executionGas } as const

const leastForwardFee = 200_000n

/** The fee for the delivery of a message of this size; the same at each attester. */
export function forwardFee(destinationDomain: number, messageBytes: number, isExecuted = false): bigint {
  const gas = deliveryGas + (isExecuted ? executionGas : 0n) + byteGas * BigInt(messageBytes)
  const fee = gasFeeAt(destinationDomain, gas)
  return fee > leastForwardFee ? fee : leastForwardFee
}

/** Fees for the delivery of a message without hook data of others, in base units. It is delivered for the middle one. */
export function forwardFees(destinationDomain: number): { low: number; med: number; high: number } {
  const med = forwardFee(destinationDomain, Number(usualBytes))
  return { low: Number((med * 3n) / 4n), med: Number(med), high: Number((med * 5n) / 4n) }
}

/** Hundredths of a percent that a burn pays for an attestation before it is final. */
const basisPointsOf = ({ network }: Chain) => network.fastFeeBasisPoints ?? usualBasisPoints

/** The fee for an attestation before the burn is final, in base units, rounded up. */
export const fastFee = (source: Chain, amountAtomic: bigint): bigint =>
  (amountAtomic * basisPointsOf(source) + wholeBasisPoints - 1n) / wholeBasisPoints

/** The fees for burns on a chain, by the finality that is asked for; `minimumFee` in basis points. */
export const burnFees = (source: Chain) => [
  { finalityThreshold: confirmedThreshold, minimumFee: Number(basisPointsOf(source)) },
  { finalityThreshold: finalizedThreshold, minimumFee: 0 },
]
