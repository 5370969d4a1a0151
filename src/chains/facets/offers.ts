import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { AbiError } from './contracts.ts'
import type { Call } from './payments.ts'

/** Current fees suggested by a node: the base fee and a priority fee for each level. */
export type FeeSuggestion = {
  baseFeeAtomic: bigint
  /** The highest one of recent blocks, where blocks have one: who read a price a moment ago may have read that. */
  recentBaseFeeAtomic?: bigint
  priorityFeeAtomic: { LOW: bigint; MEDIUM: bigint; HIGH: bigint }
}

/**
 * `depositAtomic`: native coins that the call takes from the payer of its fee beside that, such as the rent of an account that it
 * creates. `reverted`: with the bytes that the call returned, where the node tells them. `refused`: by a rule of the chain.
 * `unknown`: the node gave no verdict on the call.
 */
export type GasEstimate =
  | { kind: 'estimated'; gas: bigint; depositAtomic?: bigint | undefined }
  | { kind: 'reverted'; message: string; data?: Hex | undefined }
  | { kind: 'insufficient-funds'; message: string; depositAtomic?: bigint | undefined }
  | { kind: 'refused' | 'unknown'; message: string }

/** Whether a call would be executed now. */
export type CallTrial = { kind: 'executed' } | Exclude<GasEstimate, { kind: 'estimated' }>

/** `errors`: those of the contract, by which a revert is decoded. `feePayer`: the account that would pay the fee for the sender. */
type EstimateOptions = { errors?: readonly AbiError[] | undefined; feePayer?: Address | undefined }

/**
 * The account of a recipient. `unpayable`: the reason why no key spends coins that are paid to it. `leastAtomic`: the least of the
 * native coin that it can be paid now; any amount when absent.
 */
export type RecipientAccount = { unpayable?: string | undefined; leastAtomic?: bigint | undefined }

/** The gas and the fees with which a block includes a transaction. */
export type Offers = {
  fees(): Promise<FeeSuggestion>
  /** Never throws for an unreachable node: the estimate is `unknown`. */
  estimateGas(from: Address, call: Call, options?: EstimateOptions): Promise<GasEstimate>
  /** Calls with equal text need the same gas; those of a token, to any recipient, when absent. */
  kindOf?(call: Call): string
  /** The fee of a call for its data on the parent chain; `undefined` where it is none, or part of that for gas. */
  parentFee(call: Call, gasLimit: bigint): Promise<bigint | undefined>
  /** The limit with which a call of this estimate is sent: what it costs may change until it is mined. */
  limitOf(estimated: bigint, kind: 'coins' | 'token' | 'call'): bigint
  /** The gas with which a fee is quoted: with room beyond an estimate, or the usual of a payment that no node could estimate. */
  quotedGas(estimated: bigint | undefined): bigint
  /** The most that a payment takes from the payer of its fee beside that; nothing when absent. */
  depositMaxAtomic?: bigint
  /** The highest gas limit that a request may set. */
  gasLimitMax: bigint
  /** The lowest gas limit with which a block can include a call with this data. */
  intrinsicGas(call: Pick<Call, 'to' | 'data'>): bigint
  /** The state of a recipient, as one node says; absent where nodes do not know. */
  recipient?(address: Address): Promise<RecipientAccount>
}
