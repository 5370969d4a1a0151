import { bytesOfWords, decodeBech32 } from '#chains/addresses/base-encodings'

/** An account of 20 bytes, or of 32 for modules, under the chain's own prefix; in lower case. */
export function parseCosmosAddress(text: string, prefix: string): string | undefined {
  const decoded = decodeBech32(text)
  if (decoded?.prefix !== prefix || decoded.encoding !== 'bech32') return undefined
  const length = bytesOfWords(decoded.words)?.length
  return length === 20 || length === 32 ? text.toLowerCase() : undefined
}
