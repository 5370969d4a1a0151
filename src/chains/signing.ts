/** Signing of payloads that this program does not send itself. Only EVM wallets sign so far; it needs no node. */
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
