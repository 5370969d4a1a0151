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

type IntentFee = { baseAtomic: bigint; transferAtomic: bigint; totalAtomic: bigint }

const baseFeeAt = (domain: number): bigint => baseFees[domain] ?? otherBaseFeeAtomic

/** The fee of one transfer in base units, without forwarding. Transfers within a chain have no transfer fee. */
export function feeOf(
  source: Pick<UnifiedChain, 'domain'>,
  destination: Pick<UnifiedChain, 'domain'>,
  { value: valueAtomic, hookData }: { value: bigint; hookData: string },
): IntentFee {
  const baseAtomic = feeOfGas(source, mintGas + hookGasOf([{ hookData }]))
  const { numerator, denominator } = transferFeePart
  const transferAtomic =
    source.domain === destination.domain ? 0n : (valueAtomic * numerator + denominator - 1n) / denominator
  return { baseAtomic, transferAtomic, totalAtomic: baseAtomic + transferAtomic }
}

/** Gas of a mint with one intent, of each further one, and of a byte of hook data, with room above what tests measure. */
const mintGas = 200_000n
const furtherIntentGas = 100_000n
const hookByteGas = 40n

const hookGasOf = (intents: readonly { hookData: string }[]): bigint =>
  hookByteGas * BigInt(intents.reduce((sum, { hookData }) => sum + (hookData.length - 2) / 2, 0))

/** The gas of a mint of these intents. */
export const mintGasOf = (intents: readonly { hookData: string }[]): bigint =>
  mintGas + furtherIntentGas * BigInt(intents.length - 1) + hookGasOf(intents)

/** Price of this gas on a chain: that of one burn or mint is the base fee. */
const feeOfGas = ({ domain }: Pick<UnifiedChain, 'domain'>, gas: bigint): bigint =>
  (baseFeeAt(domain) * gas + mintGas - 1n) / mintGas

/** The fee for the delivery of a transfer: the gas of its mint, at the price at which that of a burn is the base fee. */
export const forwardingFeeOf = (destination: Pick<UnifiedChain, 'domain'>, gas: bigint): bigint =>
  forwardingAtomic + feeOfGas(destination, gas)
