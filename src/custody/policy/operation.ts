/** The kinds of operation that a request can ask to sign. */
export const operationKinds = [
  'transfer',
  'contractExecution',
  'contractDeployment',
  'signMessage',
  'signTypedData',
  'signTransaction',
  'signDelegateAction',
] as const

type OperationKind = (typeof operationKinds)[number]

/** Dangers that a policy must permit by name, whatever else it allows. */
export const dangers = [
  'approve',
  'increaseAllowance',
  'permit',
  'setApprovalForAll',
  // A signature with which another party moves tokens (EIP-3009 and similar).
  'transferAuthorization',
  'delegateCall',
  // A change of a contract's code, modules or owners.
  'upgrade',
  'contractCreation',
  // Code is put at the wallet's own address (EIP-7702).
  'setCode',
  // 32 bytes that may stand for anything.
  'rawHash',
  'undecodable',
] as const

export type OperationDanger = (typeof dangers)[number]

/**
 * One effect of the operation once it is executed. `blockchain` is `*` for typed data that names no chain and so is valid on
 * every one. Addresses are canonical.
 */
export type OperationEffect =
  /** A contract call. `known` is whether its function is one whose arguments are decoded into further effects. */
  | { kind: 'call'; blockchain: string; contract: string; selector: string; known: boolean }
  /**
   * Outgoing coins, in base units; without a destination they are sent along with a call. They arrive on `destinationChain`, or on
   * `blockchain` where that is absent.
   */
  | {
      kind: 'transfer' | 'approval'
      blockchain: string
      token: string | 'native'
      /** The contract that moves native coins as a token, where the call is one of it. */
      movedBy?: string | undefined
      destination?: string | undefined
      destinationChain?: string | undefined
      amountAtomic: bigint
    }
  /** Typed data of this type is signed for this contract. */
  | { kind: 'typedData'; blockchain: string; contract: string | 'none'; primaryType: string }

/**
 * A chain-independent description of the operation to sign, made by the module that understands the blockchain. A `sweep`
 * gathers an entity's own coins at its treasury: nothing leaves, so it has no effects, and no rule applies to it.
 */
export type Operation = {
  kind: OperationKind | 'sweep'
  effects: readonly OperationEffect[]
  dangers: readonly OperationDanger[]
  /** Further addresses that take part. Screening looks them up; no rule names them. `guessed`: a word of an argument that may be one. */
  parties?: readonly { blockchain: string; address: string; guessed?: true }[]
}

/** Operations that a worker signs and sends later. */
export const sentByWorkers: ReadonlySet<string> = new Set([
  'transfer',
  'contractExecution',
  'contractDeployment',
  'sweep',
])

/** Whether the caller receives the signature, and may use it on any chain where it is valid. */
export const isSignedAtOnce = ({ kind }: { kind: string }): boolean => !sentByWorkers.has(kind)
