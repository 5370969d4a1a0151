import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAmount, isDecimal, parseAmount } from './amounts.ts'

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const decimals = fc.integer({ min: 0, max: 77 })

describe('amounts', () => {
  it('round trips every amount at every scale', () => {
    fc.assert(
      fc.property(uint256, decimals, fc.integer({ min: 0, max: 77 }), (atomic, scale, shown) => {
        const text = formatAmount(atomic, scale, Math.min(shown, scale))
        expect(parseAmount(text, scale)).toBe(atomic)
        expect(isDecimal(text)).toBe(true)
      }),
    )
  })

  it('accepts exactly the decimal numbers, in any notation', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789.-+eExX, _٣１') }),
        decimals,
        (text, scale) => {
          const parsed = parseAmount(text, scale)
          if (typeof parsed !== 'bigint') return
          const fraction = text.split('.')[1]?.length ?? 0
          expect(formatAmount(parsed, scale, fraction)).toBe(
            fraction > 0 ? text.replace(/(\.\d*?)0*$/, (_, kept) => kept.padEnd(fraction + 1, '0')) : text,
          )
        },
      ),
    )
  })

  it('never throws, for any input', () => {
    fc.assert(
      fc.property(fc.anything(), decimals, (value, scale) => {
        const parsed = parseAmount(value, scale)
        expect(typeof parsed === 'bigint' || ['format', 'decimals', 'range'].includes(parsed)).toBe(true)
        if (typeof value !== 'string') expect(parsed).toBe('format')
      }),
    )
  })

  it.each([
    '',
    ' ',
    '-0',
    '-1',
    '+1',
    '01',
    '00',
    '.5',
    '1.',
    '1,000',
    '1_000',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    ' 12 ',
    '1\n',
    '\n1',
    '1\n2',
    '1.0\n',
    '٣',
    '１',
    '1\u200b',
    `1${'0'.repeat(78)}`,
    '9'.repeat(400),
  ])('refuses %j as a format', (text) => {
    expect(parseAmount(text, 6)).toBe('format')
  })

  it('refuses JSON numbers, which may be rounded', () => {
    for (const value of [
      0.1,
      1,
      JSON.parse('9007199254740993'),
      JSON.parse('1e400'),
      null,
      undefined,
      true,
      {},
      ['1'],
      1n,
    ])
      expect(parseAmount(value, 6)).toBe('format')
  })

  it('never rounds: refuses one digit too many', () => {
    expect(parseAmount('1.0000001', 6)).toBe('decimals')
    expect(parseAmount('1.0000000', 6)).toBe('decimals')
    expect(parseAmount('1.5', 0)).toBe('decimals')
    expect(parseAmount('1.000001', 6)).toBe(1_000_001n)
  })

  it('accepts up to the maximum of a uint256', () => {
    expect(parseAmount((2n ** 256n - 1n).toString(), 0)).toBe(2n ** 256n - 1n)
    expect(parseAmount((2n ** 256n).toString(), 0)).toBe('range')
    expect(parseAmount('9'.repeat(78), 18)).toBe('range')
  })

  it('shows at least the requested digits and never fewer than needed', () => {
    expect(formatAmount(2_000_000n, 6, 2)).toBe('2.00')
    expect(formatAmount(0n, 6, 2)).toBe('0.00')
    expect(formatAmount(1n, 6, 2)).toBe('0.000001')
    expect(formatAmount(-1_500_000n, 6, 2)).toBe('-1.50')
    expect(formatAmount(1_500_000n, 6)).toBe('1.5')
    expect(formatAmount(10n, 0)).toBe('10')
    expect(formatAmount(100n ** 9n, 18)).toBe('1')
  })
})
