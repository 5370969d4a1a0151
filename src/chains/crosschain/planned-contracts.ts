import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import type { ContractCall, CrosschainAddresses } from './crosschain.ts'

/** The contracts of another chain; addresses are words, as messages carry them. */
export type RemoteContracts = { domain: number; tokenMessenger: Hex; token: Hex }

/** The terms on which the contracts of cross-chain messages and unified balances are created. */
export type CrosschainTerms = {
  /** The account that sends the calls. The addresses of the contracts follow from it. */
  payer: Address
  /** The account that has every role in the end. */
  owner: Address
  feeRecipient: Address
  attesters: readonly Address[]
  signatureThreshold: bigint
  /** The most that one message burns, in base units. */
  burnLimitAtomic: bigint
  remotes: readonly RemoteContracts[]
  /** Set where the chain gets a unified balance too. */
  balance?: { signer: Address; withdrawalDelayBlocks: bigint } | undefined
  /** Set where burns are to pay fees beforehand: the account that signs quotes. It needs a unified balance. */
  quoteSigner?: Address | undefined
}

/** A call of the payer; each is made when those before it are done. */
type SetupCall = { name: string; isDone: boolean; call: ContractCall }

/** A call that is left to the account `by`, with the signature of the function and its values. */
export type LeftCall = { to: Address; by: Address; signature: string; values: readonly string[]; why: string }

export type CrosschainSetup = {
  addresses: CrosschainAddresses
  calls: readonly SetupCall[]
  left: readonly LeftCall[]
}

/** Plans the contracts of cross-chain messages and unified balances for a chain that has none. */
export type CrosschainPlanner = {
  /** The creation of these contracts; `undefined` where the network has no domain. Throws when the node is unreachable. */
  plan(terms: CrosschainTerms): Promise<CrosschainSetup | undefined>
  /** The addresses of the contracts of messages that a payer creates, the same on every chain. */
  addressesOf(payer: Address): CrosschainAddresses
}
