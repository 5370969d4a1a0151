import type { Effects } from './effects.ts'
import { decodeCall } from './evm/decode-call.ts'
import type { Signable } from './evm/sign-transaction.ts'
import type { TypedData } from './evm/sign-typed-data.ts'

/** What is signed outside of transactions that this program sends. Only EVM wallets sign so far; no node is needed for it. */
export { messageDigest, packSignature } from './evm/sign-message.ts'
export {
  readRawTransaction,
  readTransaction,
  type Signable,
  type TransactionFault,
  TransactionProblem,
} from './evm/sign-transaction.ts'
export { readTypedData, type TypedData } from './evm/sign-typed-data.ts'

/** What is not understood is allowed only where policy allows what it cannot see through. */
const undecodable: Effects = { effects: [], dangers: ['undecodable'] }
export const decodeMessage = (_bytes: Uint8Array): Effects => undecodable
export const decodeTypedData = (_data: TypedData): Effects => undecodable
export const decodeTransaction = (signable: Signable & { authorizations: number }): Effects =>
  decodeCall('*', signable)
