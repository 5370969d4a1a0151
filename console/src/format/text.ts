/** Characters that reorder or hide others, so that a name could look like another one. */
const hidden = /[\p{Cc}\p{Cf}]/gu

/** The text with hidden characters as escapes: `pay\u202Eroll`. */
export const plainText = (text: string): string =>
  text.replace(
    hidden,
    (character) => `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

/** An address in a list: its first 6 and its last 6 characters. */
export const shortAddress = (address: string): [start: string, end: string] =>
  address.length > 18 ? [address.slice(0, 6), address.slice(-6)] : [address, '']

/** An id in a list: its first 8 characters, which tell those of one page apart. */
export const shortId = (id: string): string => (id.length > 12 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

/** Words of a camel case name: `paymentIntentExpiry` is "Payment intent expiry". */
export function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** The first clause of a sentence, which says what is the matter, and the rest, which says what to do. */
export function clausesOf(sentence: string): [first: string, rest: string] {
  const end = /: |[.,] /.exec(sentence)
  return end ? [sentence.slice(0, end.index), sentence.slice(end.index + 2)] : [sentence, '']
}
