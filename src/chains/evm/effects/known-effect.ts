import type { AbiParameter } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Danger } from '../../facets/call-effects.ts'

/** The effect of a function with decoded arguments, for `decode-call.ts` to record. */
export type KnownEffect =
  | { does: 'transfer' | 'approval'; token?: Address; to: Address; amountAtomic: bigint }
  /** A transfer to an account of the chain of this domain. */
  | { does: 'burn'; token: Address; account: Hex; domain: number; amountAtomic: bigint }
  /** An account of the chain of this domain that takes part without an amount. */
  | { does: 'meets'; account: Hex; domain: number }
  /** A nested call; to the called contract itself when `to` is absent. */
  | { does: 'call'; to?: Address; valueAtomic?: bigint; data: Hex }
  | { does: 'danger'; danger: Danger }

type Args = readonly never[]

export type KnownCall = {
  inputs: readonly AbiParameter[]
  danger: Danger | undefined
  /** Whether policy has to list it by its selector, like a function that is not known: it moves value that is not the caller's. */
  byName: boolean
  read: (args: Args) => KnownEffect[]
}

/** Functions with the same arguments; `structs` are the definitions that the signatures name. */
export type KnownFunctions = {
  signatures: readonly string[]
  // biome-ignore lint/suspicious/noExplicitAny: the arguments have the types that the signature beside it says
  read: (...args: any[]) => KnownEffect[]
  danger?: Danger
  structs?: readonly string[]
  byName?: boolean
}
