import { expect, it } from 'vitest'
import { allWords } from '../../../page/pay/all-words.js'
import { languages } from '../../../page/pay/languages.js'

/** The names of all members, and the number of values that each text needs. */
const shapeOf = (words: object, at = ''): string[] =>
  Object.entries(words).flatMap(([name, value]) =>
    typeof value === 'object' && !Array.isArray(value)
      ? shapeOf(value, `${at}${name}.`)
      : `${at}${name} ${typeof value === 'function' ? value.length : typeof value}`,
  )

it.each(Object.keys(allWords))('the words of %s are complete', (language) => {
  const words = allWords[language as keyof typeof allWords]
  expect(shapeOf(words)).toEqual(shapeOf(allWords.en))
  expect(Object.keys(languages)).toContain(language)
})

it.each(Object.keys(allWords).filter((language) => language !== 'en'))(
  '%s says nothing in English',
  (language) => {
    const said = (words: object): string[] =>
      Object.values(words).flatMap((value) =>
        typeof value === 'function'
          ? JSON.stringify(value({ asked: 'A', missing: 'B', arrived: 'C' }, 'D', 'E'))
          : typeof value === 'string'
            ? [value]
            : said(value),
      )
    const english = new Set(said(allWords.en))
    // Words that two languages share.
    const same = said(allWords[language as keyof typeof allWords]).filter((text) => english.has(text))
    expect(same.filter((text) => !['Transaction', '"D"'].includes(text) && /[a-z]{5}/i.test(text))).toEqual(
      [],
    )
  },
)
