import { parseHashAddress } from './bitcoin.ts'

/** Twenty bytes behind 0x41 in base58 with checksum ("T…"), the same on test networks. */
export const parseTronAddress = (text: string): string | undefined => parseHashAddress(text, [0x41])
