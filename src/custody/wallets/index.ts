/** Wallets and their sets, and the addresses that the platform watches. */

export { type AddressAt, managedAfter, managedAmong, namesAt } from '../store/managed-addresses.ts'
export { findUserWalletSet, findWalletSet, listWalletSets } from '../store/wallet-sets.ts'
export {
  findWallet,
  findWalletAnywhere,
  findWalletByAddress,
  listWallets,
  ownerOfAccount,
  type WalletCore,
  walletsMadeWith,
} from '../store/wallets.ts'
export type {
  KeyFamily,
  ManagedAddress,
  ManagedPurpose,
  Signatory,
  Wallet,
  WalletChain,
  WalletMetadata,
  WalletSet,
} from './types.ts'
export { addUserWalletSet, createWalletSet, updateWalletSet, walletSetsMax } from './wallet-sets.ts'
export {
  type CreateWalletsInput,
  createWallets,
  deriveWallet,
  recordUpgrades,
  requireWallet,
  type SmartAccountKind,
  updateWallet,
} from './wallets.ts'
