import { expect, it } from 'vitest'
import { chooseLanguage } from './choose-language.ts'

const offered = ['en', 'de', 'pt', 'ja'] as const

it.each([
  ['de', 'de'],
  ['pt-BR,pt;q=0.9,en;q=0.8', 'pt'],
  ['nl, ja ; q=0.4, DE;q=0.5', 'de'],
  ['en;q=0, ja;q=0.1', 'ja'],
  ['fr-CH, fr;q=0.9', undefined],
  ['*', undefined],
  ['', undefined],
  [undefined, undefined],
  ['de;q=abc', undefined],
  ['de;q=2, ja', 'ja'],
  [`${'nl,'.repeat(10_000)}de`, undefined],
])('of %j the page has %j', (header, language) => {
  expect(chooseLanguage(header, offered)).toBe(language)
})
