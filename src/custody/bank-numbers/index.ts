/** The numbers of linked bank accounts: sealed until a bank has them, and recognised by a fingerprint afterwards. */

export { bankFingerprintOf, openBankNumbers, sealBankNumbers } from './bank-numbers.ts'
