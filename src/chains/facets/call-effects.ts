import type { Address } from '../addresses/types.ts'

/**
 * The decoded effects of a payload that a key signs, in terms that do not depend on the chain family. Custody's policy
 * evaluates exactly these; custody does not import chains, so it declares the same shape for itself. Screening evaluates them
 * too, and the parties.
 */
export type Effects = { effects: Effect[]; dangers: Danger[]; parties: Party[] }

/**
 * An address that takes part and may have value or power of it: a sender of what is moved, the deliverer of a message, any
 * address in arguments that are not understood. Policy has no rules for it. `guessed`: a word that may be an address.
 */
export type Party = { blockchain: string; address: string; guessed?: true }

/** `blockchain` is the chain of the effect: `*` for typed data that names no chain and so is valid on every one. */
type Effect =
  /** Arguments of an unknown function are not decoded. */
  | { kind: 'call'; blockchain: string; contract: Address; selector: string; known: boolean }
  /**
   * A transfer of coins, or permission to take them. Without a destination the coins are sent with a call. The destination is an
   * address of `destinationChain` where the coins arrive on another chain.
   */
  | {
      kind: 'transfer' | 'approval'
      blockchain: string
      token: Address | 'native'
      /** The contract that moves native coins as a token, where the call is one of it. */
      movedBy?: Address
      destination?: string
      destinationChain?: string
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
