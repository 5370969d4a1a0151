import type { Address } from '../types.ts'

/** What a request asks to be signed for. */
export const operationKinds = [
  'transfer',
  'contractExecution',
  'signMessage',
  'signTypedData',
  'signTransaction',
] as const

export type OperationKind = (typeof operationKinds)[number]

/** What a policy must permit by name, whatever else it allows. */
export const dangers = [
  'approve',
  'increaseAllowance',
  'permit',
  'setApprovalForAll',
  // A signature with which somebody else moves tokens (EIP-3009 and its like).
  'transferAuthorization',
  'delegateCall',
  // What a contract does, or who rules it, is changed.
  'upgrade',
  'contractCreation',
  // Code is put at the wallet's own address (EIP-7702).
  'setCode',
  // 32 bytes that may stand for anything.
  'rawHash',
  'undecodable',
] as const

export type Danger = (typeof dangers)[number]

/**
 * One thing that happens when what is signed is carried out. `blockchain` is where: `*` for typed data that names no chain
 * and so holds on every one. Addresses are lower case.
 */
export type Effect =
  /** A contract is called. Arguments of an unknown function are not understood. */
  | { kind: 'call'; blockchain: string; contract: Address; selector: `0x${string}`; known: boolean }
  /** Coins leave; without a destination they go along with a call. */
  | {
      kind: 'transfer' | 'approval'
      blockchain: string
      token: Address | 'native'
      destination?: Address | undefined
      amountAtomic: bigint
    }
  /** Typed data of this type is signed for this contract. */
  | { kind: 'typedData'; blockchain: string; contract: Address | 'none'; primaryType: string }

/**
 * A plain description of what is to be signed, made by whoever understands the blockchain. A `sweep` gathers an entity's own
 * coins at its treasury: nothing leaves, so it has no effects, and no rule is about it.
 */
export type Operation = {
  kind: OperationKind | 'sweep'
  effects: readonly Effect[]
  dangers: readonly Danger[]
}
