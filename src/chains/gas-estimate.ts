/** `refused`: by a rule of the chain. `unknown`: the node gave no verdict on the call. */
export type GasEstimate =
  | { kind: 'estimated'; gas: bigint }
  | { kind: 'reverted' | 'insufficient-funds' | 'refused' | 'unknown'; message: string }
