import { canonicalTxId, txIdsFrom } from '#chains/addresses/canonical'
import { isDecimal } from '#lib/amounts'
import { uuidIn } from '#lib/ids'

/** A word in the forms in which it is looked up. */
export type SearchWord = {
  /** As it was typed, for references. */
  text: string
  /** As addresses and hashes are stored. */
  canonical: string
  id: string | undefined
  /** The ids that begin with it: the first and the last. */
  ids: { from: string; to: string } | undefined
  /** The hashes that begin with it: the first, and the text that follows the last. */
  hashes: { from: string; before: string } | undefined
  amount: string | undefined
}

/** The fewest characters by whose beginning an id or a hash is found. */
export const prefixMin = 6

export function wordOf(text: string): SearchWord {
  const canonical = canonicalTxId(text)
  return {
    text,
    canonical,
    id: uuidIn(text.toLowerCase()),
    ids: idsFrom(text.toLowerCase()),
    hashes: txIdsFrom(text, prefixMin),
    amount: isDecimal(text) ? text : undefined,
  }
}

/** With its hyphens or without them. */
function idsFrom(text: string): SearchWord['ids'] {
  const digits = text.replaceAll('-', '')
  if (!/^[0-9a-f]{6,31}$/.test(digits)) return undefined
  const hyphenated = withHyphens(digits)
  if (![digits, hyphenated, `${hyphenated}-`].includes(text)) return undefined
  return { from: withHyphens(digits.padEnd(32, '0')), to: withHyphens(digits.padEnd(32, 'f')) }
}

const withHyphens = (digits: string): string =>
  [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)]
    .filter((part) => part !== '')
    .join('-')
