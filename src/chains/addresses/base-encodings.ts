import { type BytesCoder, base32nopad, base58, base58xmr, base58xrp, bech32, bech32m } from '@scure/base'

const charactersMax = 128

/** Makes a total decoder: it returns undefined for other text. The length is bounded, since base58 takes quadratic time. */
const decoder =
  ({ decode }: BytesCoder) =>
  (text: string): Buffer | undefined => {
    if (text.length > charactersMax) return undefined
    try {
      return Buffer.from(decode(text))
    } catch {
      return undefined
    }
  }

/** Decodes base32 (RFC 4648) without padding; every value has one encoding only. */
export const decodeBase32 = decoder(base32nopad)
/** Decodes base58 in the alphabet of Bitcoin, which most other chains use. */
export const decodeBase58 = decoder(base58)
export const encodeBase58 = (bytes: Uint8Array): string => base58.encode(bytes)
/** Decodes base58 in the alphabet of the XRP Ledger. */
export const decodeXrplBase58 = decoder(base58xrp)
/** Decodes base58 in the blocks of Monero. */
export const decodeMoneroBase58 = decoder(base58xmr)

type Bech32 = { prefix: string; encoding: 'bech32' | 'bech32m'; words: number[] }

/** Returns the prefix and the 5-bit words of bech32 text (BIP-173, BIP-350), without the checksum. Total. */
export function decodeBech32(text: string): Bech32 | undefined {
  for (const [encoding, coder] of Object.entries({ bech32, bech32m } as const)) {
    const decoded = coder.decodeUnsafe(text)
    if (decoded) return { ...decoded, encoding: encoding as Bech32['encoding'] }
  }
  return undefined
}

/** Packs 5-bit words into bytes. Returns undefined when bits are left over that are not zero, or are five or more. */
export function bytesOfWords(words: number[]): Buffer | undefined {
  const bytes = bech32.fromWordsUnsafe(words)
  return bytes ? Buffer.from(bytes) : undefined
}
