import type { Address, TxId } from './types.ts'

/**
 * Hexadecimal text (EVM, Aptos, Sui) means the same in either case and is stored in lower case; base58 and names are
 * case-sensitive and stored as they are.
 */
const canonicalText = (text: string): string => (/^0x[0-9a-f]*$/i.test(text) ? text.toLowerCase() : text)

/** The stored form of an address that a filter or a network's data names. Does not validate it: see `parseAddress`. */
export const canonicalAddress = (text: string): Address => canonicalText(text)

/** The stored form of a transaction id that a filter names. */
export const canonicalTxId = (text: string): TxId => canonicalText(text)

/**
 * The range of stored transaction ids that begin with a text of at least `min` characters: from the first of them up to a text that
 * follows the last. Of hexadecimal ones alone, whose order is the same in every collation of a database.
 */
export function txIdsFrom(text: string, min: number): { from: string; before: string } | undefined {
  const from = canonicalText(text)
  // The letter after the last digit follows whatever continues the beginning.
  return from.length >= min && /^0x[0-9a-f]{1,63}$/.test(from) ? { from, before: `${from}g` } : undefined
}
