import { describe, expect, it } from 'vitest'
import { placesOf } from './tokens.ts'

const find = (text: string, quote: string, path = 'file.ts') =>
  placesOf({ path, text }, quote).map(({ start, end }) => text.slice(start, end))

describe('a quote of a seeded bug', () => {
  it.each([
    ['line breaks and trailing commas', 'pay(\n  amount, // in base units\n  to,\n)'],
    ['comments', '/** Pays. */ pay(amount /* pay(amount, to) */, to)'],
    ['one line', 'pay( amount,to )'],
  ])('is found whatever the formatting: %s', (_, text) => {
    expect(find(text, 'pay(amount, to)')).toEqual([text.slice(text.indexOf('pay('))])
  })

  it('is found within a query, from the middle of one token of the language', () => {
    const text = 'const rows = sql`select id\n    from holds\n    where is_open and amount > 0`'
    expect(find(text, 'from holds where is_open and')).toHaveLength(1)
    expect(find(text, 'from   holds')).toEqual(['from holds'])
  })

  it('is found in a migration, across its comments', () => {
    const text = 'select 1; -- from holds\nselect 2\n  from holds; -- all'
    expect(find(text, 'select 2 from holds', 'file.sql')).toEqual(['select 2\n  from holds'])
    expect(find(text, '1; from holds', 'file.sql')).toEqual([])
  })

  it('is found as often as it is there, and never as a part of a word', () => {
    expect(find('a.b; a.b; a.bc', 'a.b')).toEqual(['a.b', 'a.b'])
    expect(find("'http://a.b/c' // a.b", 'a.b')).toEqual(['a.b'])
  })
})
