import type { Address } from './addresses/types.ts'

/**
 * The decoded effects of a payload that a key signs, in terms that do not depend on the chain family. Custody's policy
 * evaluates exactly these; custody does not import chains, so it declares the same shape for itself.
 */
export type Effects = { effects: Effect[]; dangers: Danger[] }

/** `blockchain` is the chain of the effect: `*` for typed data that names no chain and so is valid on every one. */
export type Effect =
  /** Arguments of an unknown function are not decoded. */
  | { kind: 'call'; blockchain: string; contract: Address; selector: string; known: boolean }
  /** A transfer of coins, or permission to take them. Without a destination the coins are sent with a call. */
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
