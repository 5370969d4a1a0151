import type { Hex } from '#lib/hex'

/**
 * `reverted`: with the bytes that the call returned, where the node tells them. `refused`: by a rule of the chain. `unknown`: the
 * node gave no verdict on the call.
 */
export type GasEstimate =
  | { kind: 'estimated'; gas: bigint }
  | { kind: 'reverted'; message: string; data?: Hex | undefined }
  | { kind: 'insufficient-funds' | 'refused' | 'unknown'; message: string }
