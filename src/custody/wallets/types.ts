import type { ScaCore } from '#lib/sca-cores'

/** The blockchains whose keys are derived, written as addresses and used for signatures in the same way; see `families/`. */
export type KeyFamily = 'evm' | 'aptos' | 'solana' | 'near'

/** A set of wallets whose keys derive from one seed. */
export type WalletSet = {
  id: string
  name: string | null
  custodyType: 'DEVELOPER' | 'ENDUSER'
  /** The user whose set it is; null where it is the developer's. */
  userId: string | null
  createDate: string
  updateDate: string
}

/** One address of one key on one blockchain. Dates are as shown: UTC with milliseconds. */
export type Wallet = {
  id: string
  walletSetId: string
  keyId: string
  blockchain: string
  /** Canonical, as the family of the blockchain writes it. */
  address: string
  /** The last element of the key's derivation path, from 0. */
  derivationIndex: number
  accountType: 'EOA' | 'SCA'
  /** The version of a smart account; null for an account that is a key. */
  scaCore: ScaCore | null
  /** The version with which it is created on the chain. Its address depends on it, so an upgrade changes `scaCore` alone. */
  firstCore: ScaCore | null
  custodyType: 'DEVELOPER' | 'ENDUSER'
  /** The user who holds the key; null where the developer does. */
  userId: string | null
  /** The public key as its family writes it; null where the address alone is shown. Its account may have another key later. */
  initialPublicKey: string | null
  state: 'LIVE' | 'FROZEN'
  name: string | null
  refId: string | null
  createDate: string
  updateDate: string
}

/** The signer that policy decides about: a wallet, or a treasury, which has its own id in place of a wallet set's. */
export type Signatory = Pick<Wallet, 'id' | 'walletSetId' | 'keyId' | 'address' | 'state'>

/** The name and the reference that a customer gives a wallet; an empty text stands for none. */
export type WalletMetadata = { name?: string | undefined; refId?: string | undefined }

/** The chain of a wallet. `onChain` is false for the virtual blockchains, whose wallets only sign and are not watched. */
export type WalletChain = { blockchain: string; family: KeyFamily; onChain: boolean }

/** The use of a watched address: a customer's wallet, or one of the addresses that the platform works with. */
export type ManagedPurpose = 'wallet' | 'deposit' | 'treasury' | 'modular' | 'paymaster'

/**
 * A watched address. `ownerId` is the wallet, deposit address, treasury or modular wallet that it belongs to. The native coins
 * of a paymaster are its deposit at the EntryPoint.
 */
export type ManagedAddress = {
  entityId: string
  blockchain: string
  address: string
  /** Null for a modular wallet, whose owner keeps the keys, and for a paymaster, which is a contract. */
  keyId: string | null
  purpose: ManagedPurpose
  ownerId: string
}
