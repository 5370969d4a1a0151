/** What is signed outside of transactions that this program sends. Only EVM wallets sign so far; no node is needed for it. */
export { decodeMessage, decodeTransaction, decodeTypedData } from './evm/decode-signing.ts'
export { messageDigest, packSignature } from './evm/sign-message.ts'
export {
  readRawTransaction,
  readTransaction,
  type Signable,
  type TransactionFault,
  TransactionProblem,
} from './evm/sign-transaction.ts'
export { readTypedData, type TypedData } from './evm/sign-typed-data.ts'
