/** Signing of payloads that this program does not send itself. Only EVM wallets sign so far; it needs no node. */
import type { ScaCore } from '#lib/sca-cores'
import type { Address } from './addresses/types.ts'
import { accountAddress, ownedBy } from './evm/accounts/account.ts'
import { contractsOf } from './evm/accounts/deployed-contracts.ts'

export { accountMessageDigest } from './evm/accounts/message.ts'
export { decodePersonalMessage, decodeTransaction, decodeTypedData } from './evm/effects/decode-signing.ts'
export { packSignature, personalMessageDigest, unpackSignature } from './evm/signing/sign-message.ts'
export {
  readRawTransaction,
  readTransaction,
  type Signable,
  type TransactionFault,
  TransactionProblem,
} from './evm/signing/sign-transaction.ts'
export { readTypedData, type TypedData } from './evm/signing/sign-typed-data.ts'

/** The address of the smart account of this version that the key of `owner` controls: the same on every EVM chain. */
export const smartAccountOf = (owner: Address, core: ScaCore): Address =>
  accountAddress(ownedBy(owner), contractsOf(core))
