/** Letters of other scripts, and digits, that are read as a Latin letter. */
const readAs: Record<string, string> = {
  а: 'a',
  в: 'b',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  н: 'h',
  і: 'i',
  ј: 'j',
  к: 'k',
  м: 'm',
  о: 'o',
  р: 'p',
  ѕ: 's',
  т: 't',
  у: 'y',
  х: 'x',
  ԛ: 'q',
  ԝ: 'w',
  ѵ: 'v',
  ո: 'n',
  ս: 'u',
  օ: 'o',
  ց: 'g',
  α: 'a',
  β: 'b',
  ε: 'e',
  η: 'n',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  χ: 'x',
  ϲ: 'c',
  ɑ: 'a',
  ɡ: 'g',
  ı: 'i',
  ʟ: 'l',
  ᴄ: 'c',
  ᴅ: 'd',
  ѡ: 'w',
  $: 's',
  '₮': 't',
  '€': 'e',
  '0': 'o',
  '1': 'l',
  '5': 's',
  '8': 'b',
}

/** A name as a person reads it: without case, accents, spaces and signs, and with look-alikes of letters replaced. */
const foldName = (name: string): string =>
  [
    ...name
      .normalize('NFKD')
      .replaceAll(/[\p{M}\p{C}\s]/gu, '')
      .toLowerCase(),
  ]
    .map((sign) => readAs[sign] ?? sign)
    .join('')
    // The capital of "l" and the lower case of "I" are one sign in many fonts.
    .replaceAll('i', 'l')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/** Whether a token is named like one of these. */
export function isLookAlike(
  token: { name: string; symbol: string },
  listedNames: readonly string[],
): boolean {
  const listed = new Set(listedNames.map(foldName))
  return [token.name, token.symbol].map(foldName).some((folded) => folded !== '' && listed.has(folded))
}
