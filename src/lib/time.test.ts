import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant, parseInstant } from './time.ts'

const year1Ms = Date.parse('0001-01-01T00:00:00.000Z')
const year9999Ms = Date.parse('9999-12-31T23:59:59.999Z')
const instant = fc.integer({ min: year1Ms, max: year9999Ms })

describe('instants', () => {
  it('round trips every millisecond from year 1 to 9999', () => {
    fc.assert(
      fc.property(instant, (atMs) => {
        expect(parseInstant(formatInstant(atMs))).toBe(atMs)
      }),
    )
  })

  it('reads any offset as the same instant', () => {
    const offset = fc.record({
      hours: fc.integer({ min: 0, max: 23 }),
      minutes: fc.integer({ min: 0, max: 59 }),
    })
    const middle = fc.integer({ min: year1Ms + 2 * 86_400_000, max: year9999Ms - 2 * 86_400_000 })
    fc.assert(
      fc.property(middle, offset, fc.constantFrom(1, -1), (atMs, { hours, minutes }, sign) => {
        const local = formatInstant(atMs + sign * (hours * 60 + minutes) * 60_000).slice(0, -1)
        const zone = `${sign < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
        expect(parseInstant(local + zone)).toBe(atMs)
      }),
    )
  })

  it('accepts only existing dates: formatting returns the given day', () => {
    const two = fc.integer({ min: 0, max: 99 }).map((value) => String(value).padStart(2, '0'))
    const year = fc.integer({ min: 0, max: 9999 }).map((value) => String(value).padStart(4, '0'))
    fc.assert(
      fc.property(year, two, two, two, two, two, (...parts) => {
        const [yyyy, month, day, hour, minute, second] = parts
        const text = `${yyyy}-${month}-${day}T${hour}:${minute}:${second}.000Z`
        const atMs = parseInstant(text)
        if (atMs !== undefined) expect(formatInstant(atMs)).toBe(text)
      }),
      { numRuns: 2_000 },
    )
  })

  it('never throws, for any input', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        if (typeof value !== 'string') expect(parseInstant(value)).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789-:.TZ+ \n') }), (text) => {
        const atMs = parseInstant(text)
        expect(atMs === undefined || Number.isSafeInteger(atMs)).toBe(true)
      }),
    )
  })

  it.each([
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-02-30',
    '2026-01-01',
    '2026-1-1T00:00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01t00:00:00z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00Z\n',
    '\n2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n2026-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '1',
    '1767225600000',
    '',
  ])('refuses %j', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })

  it('handles leap days and large offsets, and truncates to milliseconds', () => {
    expect(parseInstant('2024-02-29T12:00:00Z')).toBe(Date.UTC(2024, 1, 29, 12))
    expect(parseInstant('2026-01-01T14:00:00+14:00')).toBe(Date.UTC(2026, 0, 1))
    expect(parseInstant('2026-01-01T00:00:00.123999999Z')).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 123))
    expect(parseInstant('2026-01-01T00:00:00.5Z')).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 500))
  })
})
