/** Ranges that are read of a header. */
const rangesMax = 20

/**
 * The language on offer that a reader prefers, by `Accept-Language`: a region counts as its language, so pt-BR is pt. `undefined` where
 * none of them is on offer.
 */
export function chooseLanguage<Offered extends string>(
  header: string | undefined,
  offered: readonly Offered[],
): Offered | undefined {
  const ranges = (header ?? '')
    .split(',', rangesMax)
    .map((text) => {
      const [range = '', ...parameters] = text
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/)
      const quality = parameters.find((each) => each.startsWith('q='))
      return { language: range.split('-')[0]!, quality: quality === undefined ? 1 : Number(quality.slice(2)) }
    })
    // Not a number and zero are no wish.
    .filter(({ quality }) => quality > 0 && quality <= 1)
    .sort((one, other) => other.quality - one.quality)
  const found = ranges.map(({ language }) => offered.find((each) => each === language))
  return found.find((each) => each !== undefined)
}
