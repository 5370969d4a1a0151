import { expect, it } from 'vitest'
import { csvLine } from './csv.ts'

it.each([
  ['plain', 'plain'],
  ['-12.50', '-12.50'],
  ['=1+1', "'=1+1"],
  ['\t=1', `"'\t'=1"`],
  ['a;=1', `"a;'=1"`],
  ['a;b', '"a;b"'],
  ['a\tb', '"a\tb"'],
  ['a\t@b', `"a\t'@b"`],
  ['a\r\n+1', `"a\r\n'+1"`],
  ['say "a", b', '"say ""a"", b"'],
])('writes %j so that no spreadsheet takes a part of it for a formula', (text, written) => {
  expect(csvLine([text, 'last'])).toBe(`${written},last\r\n`)
})
