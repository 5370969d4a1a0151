/** Signing of payloads that this program does not send itself; it needs no node. */
import type { ScaCore } from '#lib/sca-cores'
import type { Address } from './addresses/types.ts'
import { type Blockchain, familyOf } from './blockchains.ts'
import { accountAddress, ownedBy } from './evm/accounts/account.ts'
import { contractsOf } from './evm/accounts/deployed-contracts.ts'
import type { WalletSigning } from './facets/signing.ts'
import { families } from './families.ts'

export { accountMessageDigest } from './evm/accounts/message.ts'
export { unpackSignature } from './evm/signing/sign-message.ts'

/** The payloads that wallets on a blockchain sign. */
export const signingOn = (blockchain: Blockchain): WalletSigning =>
  families[familyOf(blockchain)]?.signing ?? {}

/** The address of the smart account of this version that the key of `owner` controls: the same on every EVM chain. */
export const smartAccountOf = (owner: Address, core: ScaCore): Address =>
  accountAddress(ownedBy(owner), contractsOf(core))
