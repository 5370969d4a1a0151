/** Returns the candidate that `text` probably stands for, or `undefined` when none is near. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const asked = plain(text)
  if (asked.length < 2 || asked.length > 40) return undefined
  const same = candidates.find((each) => plain(each) === asked)
  if (same) return same
  const slips = asked.length < 5 ? 1 : 2
  const slipped = nearestOf(asked, candidates)
  if (slipped && slipped.distance <= slips) return slipped.candidate
  // BASE-SEPOLIA for BASE, and vice versa: the candidate with the same first word and the most words in common. Of several
  // those as long as the text: a test chain for a retired one, MATIC-AMOY for MATIC-MUMBAI, and never MATIC.
  const words = wordsOf(text)
  const shared = (each: string) => wordsOf(each).filter((word) => words.includes(word)).length
  const lengthApart = (each: string) => Math.abs(wordsOf(each).length - words.length)
  const related = candidates.filter((each) => wordsOf(each)[0] === words[0])
  return related.sort((a, b) => shared(b) - shared(a) || lengthApart(a) - lengthApart(b))[0]
}

/** The candidate with the fewest other characters; of several the first that begins as the text does: fish for fsh, not zsh. */
function nearestOf(asked: string, candidates: readonly string[]) {
  const measured = candidates.map((candidate) => ({
    candidate,
    distance: distance(plain(candidate), asked),
    isLikely: plain(candidate)[0] === asked[0],
  }))
  const [best] = measured.sort(
    (one, other) => one.distance - other.distance || Number(other.isLikely) - Number(one.isLikely),
  )
  return best
}

/** Returns the suggestion that an error adds when the value is near an allowed one. */
export function suggest(value: unknown, allowed: readonly unknown[]): string {
  const texts = allowed.filter((each): each is string => typeof each === 'string')
  const found = typeof value === 'string' ? nearest(value, texts) : undefined
  return found === undefined ? '' : `: did you mean ${found}?`
}

/** Counts the characters in which two words differ, beside case and punctuation; of long words only whether they do. */
export function slipsBetween(one: string, other: string): number {
  const [a, b] = [plain(one), plain(other)]
  if (a === b) return 0
  return a.length > 40 || Math.abs(a.length - b.length) > 2 ? Number.POSITIVE_INFINITY : distance(a, b)
}

/** Aliases of chains that do not look alike: MATIC-AMOY is POLY to the business account, and Polygon in common use. */
const otherNames: Readonly<Record<string, string>> = {
  ARBITRUM: 'ARB',
  AVALANCHE: 'AVAX',
  ETHEREUM: 'ETH',
  OPTIMISM: 'OP',
  POLY: 'MATIC',
  POLYGON: 'MATIC',
  SOLANA: 'SOL',
  UNICHAIN: 'UNI',
}

const wordsOf = (text: string): string[] =>
  text
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((word) => otherNames[word] ?? word)

const plain = (text: string) => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** Returns the Levenshtein distance of two texts. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let index = 1; index <= other.length; index++) {
      const changed = row[index - 1]! + (one[at - 1] === other[index - 1] ? 0 : 1)
      next.push(Math.min(changed, row[index]! + 1, next[index - 1]! + 1))
    }
    row = next
  }
  return row.at(-1)!
}
