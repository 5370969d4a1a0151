import type { Address } from './chain.ts'

/**
 * What is done by something that a key signs, as far as it is understood, in words that do not depend on the chain family.
 * Custody's policy asks about exactly these; it knows no chains, so it declares the same shape for itself.
 */
export type Effects = { effects: Effect[]; dangers: Danger[] }

/** `blockchain` is where it happens: `*` for typed data that names no chain and so holds on every one. */
export type Effect =
  /** Arguments of an unknown function are not understood. */
  | { kind: 'call'; blockchain: string; contract: Address; selector: Address; known: boolean }
  /** Coins leave, or may be taken from now on. Without a destination they go along with a call. */
  | {
      kind: 'transfer' | 'approval'
      blockchain: string
      token: Address | 'native'
      destination?: Address
      amountAtomic: bigint
    }
  | { kind: 'typedData'; blockchain: string; contract: Address | 'none'; primaryType: string }

export type Danger =
  | 'approve'
  | 'increaseAllowance'
  | 'permit'
  | 'setApprovalForAll'
  | 'transferAuthorization'
  | 'delegateCall'
  | 'upgrade'
  | 'contractCreation'
  | 'setCode'
  | 'rawHash'
  | 'undecodable'
