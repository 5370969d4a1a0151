import { decodeBase58 } from '#chains/addresses/base-encodings'

/** Base58 of exactly 32 bytes. */
export const isSolanaAddress = (text: string): boolean => decodeBase58(text)?.length === 32
