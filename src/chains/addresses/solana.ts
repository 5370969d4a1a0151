import { decodeBase58 } from '#chains/addresses/base-encodings'
import { programIds } from '../solana/programs.ts'

/** Base58 of exactly 32 bytes. */
export const isSolanaAddress = (text: string): boolean => decodeBase58(text)?.length === 32

/** Addresses that are written to look like words, as those of programs and of the state of the network are: no key spends there. */
export const isReservedSolanaAddress = (address: string): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]*1{16,}[1-9A-HJ-NP-Za-km-z]?$/.test(address) ||
  Object.values(programIds).includes(address)

export const solanaAddressForm = '32 bytes in base58, which are 32 to 44 letters and digits'
