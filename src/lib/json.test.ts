import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDeep } from '#testing/runner/size'
import { canonicalJson, fingerprintOf } from './json.ts'

/** The same value with the keys of every object in reverse order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (value === null || typeof value !== 'object') return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, item] of Object.entries(value).reverse()) copy[key] = shuffled(item)
  return copy
}

describe('canonical JSON', () => {
  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value))
        expect(fingerprintOf(shuffled(value))).toEqual(fingerprintOf(value))
      }),
    )
  })

  it('canonical JSON distinguishes different values', () => {
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', '"', '0') })
    fc.assert(
      fc.property(small, small, (one, other) => {
        const wire = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown
        expect(canonicalJson(one) === canonicalJson(other)).toBe(isDeepStrictEqual(wire(one), wire(other)))
      }),
      { numRuns: isDeep ? 2_000 : 400 },
    )
    const distinct = [{}, [], null, '', 0, false, '0', [0], { 0: 0 }, [[]], { a: [] }, { a: {} }, { a: null }]
    expect(new Set(distinct.map((value) => canonicalJson(value))).size).toBe(distinct.length)
  })

  it('keeps __proto__ as a plain key, and omits keys without a value', () => {
    const sent = JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as unknown
    expect(canonicalJson(sent)).toBe('{"__proto__":{"a":1},"b":2}')
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}')
    expect(canonicalJson([undefined])).toBe('[null]')
  })
})
