import type { ScaCore } from '#lib/sca-cores'

/** A way to derive keys, to write their addresses and to sign; see `families/`. */
export type KeyFamily = 'evm'

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
  derivationIndex: number
  accountType: 'EOA' | 'SCA'
  /** The version of a smart account; null for an account that is a key. */
  scaCore: ScaCore | null
  /** The version that it is created with, from which its address follows; an upgrade changes `scaCore` alone. */
  firstCore: ScaCore | null
  custodyType: 'DEVELOPER' | 'ENDUSER'
  /** The user who holds the key; null where the developer does. */
  userId: string | null
  state: 'LIVE' | 'FROZEN'
  name: string | null
  refId: string | null
  createDate: string
  updateDate: string
}

/** The signer: a wallet, or an entity's treasury, whose own id then replaces the wallet set's. */
export type Signatory = Pick<Wallet, 'id' | 'walletSetId' | 'keyId' | 'address' | 'state'>

export type WalletMetadata = { name?: string | undefined; refId?: string | undefined }

/** The chain of a wallet. `onChain` is false for the virtual blockchains, whose wallets only sign and are not watched. */
export type WalletChain = { blockchain: string; family: KeyFamily; onChain: boolean }

export type ManagedPurpose = 'wallet' | 'deposit' | 'treasury' | 'modular' | 'paymaster'

/**
 * A watched address. `ownerId` is the wallet, deposit address, treasury or modular wallet that it belongs to. The native coins
 * of a paymaster are its deposit at the EntryPoint.
 */
export type ManagedAddress = {
  entityId: string
  blockchain: string
  address: string
  /** Null of a modular wallet, whose keys are elsewhere, and of a paymaster, which has none. */
  keyId: string | null
  purpose: ManagedPurpose
  ownerId: string
}
