import fc from 'fast-check'
import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '#testing/processes/cpu-time'
import { anyText } from '#testing/requests/any-text'
import { isDeep } from '#testing/runner/size'
import { ValueProblem } from '../../invalid-value.ts'
import { callDataBytesMax } from '../payments/build.ts'
import { encodeCall } from './encode.ts'

/** The encoding of the same call by viem, when a program contains it. */
const reference = (signature: string, args: unknown[]) =>
  encodeFunctionData({ abi: parseAbi([`function ${signature}`] as never) as never, args } as never)

const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

describe('a call', () => {
  it.each([
    ['pause()', [], []],
    ['transfer(address,uint256)', [address, '1000000'], [address, 1_000_000n]],
    ['set(uint8,int8,bool)', [255, '-128', 'true'], [255, -128, true]],
    ['set(uint256)', ['0xff'], [255n]],
    ['set(bytes,bytes4,string)', ['0x', '0xdeadbeef', 'naïve ☃'], ['0x', '0xdeadbeef', 'naïve ☃']],
    ['set(uint256[])', [[]], [[]]],
    [
      'set(uint16[2][])',
      [
        [
          ['1', 2],
          [3, 4],
        ],
      ],
      [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ],
    [
      'set((address,(bool,string[])),uint256)',
      [[address, [false, ['a', 'b']]], 7],
      [[address, [false, ['a', 'b']]], 7n],
    ],
    [
      'set((uint256,bytes)[2])',
      [
        [
          ['1', '0x01'],
          ['2', '0x'],
        ],
      ],
      [
        [
          [1n, '0x01'],
          [2n, '0x'],
        ],
      ],
    ],
  ] as [string, unknown[], unknown[]][])('%s with %j is encoded as by others', (signature, values, args) => {
    expect(encodeCall(signature, values)).toBe(reference(signature, args))
  })

  it('is lower-case hex, also of bytes in mixed case', () => {
    expect(encodeCall('set(bytes,bytes2)', ['0xAbCd', '0xEF01'])).toBe(
      reference('set(bytes,bytes2)', ['0xabcd', '0xef01']),
    )
  })

  it('takes as many words as a node takes, and says so beyond', () => {
    const fits = Math.floor((callDataBytesMax - 4) / 32) - 2
    const values = [Array(fits).fill('1')]
    expect(encodeCall('set(uint256[])', values)).toHaveLength(2 + 2 * (4 + 32 * (fits + 2)))
    expect(leastCpuMs(() => encodeCall('set(uint256[])', values), 50)).toBeLessThan(50)
    expect(problemOf('set(uint256[])', [Array(fits + 5).fill('1')])).toMatch(/no node takes/)
    expect(problemOf('set(string)', ['x'.repeat(callDataBytesMax)])).toMatch(/no node takes/)
  })
})

describe('what is not encoded', () => {
  it.each([
    ['', [], /abiFunctionSignature must be a name/],
    ['transfer', [], /abiFunctionSignature must be a name/],
    ['(uint256)', [1], /abiFunctionSignature must be a name/],
    ['1a()', [], /abiFunctionSignature must be a name/],
    ['a()b', [], /after its last bracket/],
    ['a(', [], /no known type/],
    ['a(uint256', [1], /comma or a closing bracket/],
    ['a(uint256,)', [1], /no known type/],
    ['a(,)', [], /no known type/],
    ['a(())', [[]], /no known type/],
    ['a(uint)', [1], /must write uint as uint256/],
    ['a(uint7)', [1], /no known type/],
    ['a(uint264)', [1], /no known type/],
    ['a(bytes33)', ['0x'], /no known type/],
    ['a(bytes0)', ['0x'], /no known type/],
    ['a(uint256 amount)', [1], /neither spaces nor parameter names/],
    ['a(address, uint256)', [address, 1], /neither spaces nor parameter names/],
    ['a(tuple(uint256))', [[1]], /without "tuple"/],
    ['a(uint256[0])', [[]], /comma or a closing bracket/],
    ['a(uint256[-1])', [[]], /comma or a closing bracket/],
    [`a(${'('.repeat(9)}uint8${')'.repeat(9)})`, [], /deeper than 8/],
    [`a(uint8${'[]'.repeat(9)})`, [], /deeper than 8/],
    [`a(${Array(101).fill('uint8').join(',')})`, Array(101).fill(1), /more than 100 types/],
    [`a(${' '.repeat(2000)})`, [], /longer than 2000/],
    ['a(uint256)', [], /abiParameters has 0 values, but the signature has 1/],
    ['a(uint256)', [1, 2], /abiParameters has 2 values/],
    ['a((uint8,uint8))', [[1]], /abiParameters\[0\] has 1 values/],
    ['a((uint8,uint8))', [{ x: 1 }], /abiParameters\[0\] must be a list/],
    ['a(uint8[2])', [[1]], /abiParameters\[0\] must have exactly 2/],
    ['a(uint8[])', ['1'], /abiParameters\[0\] must be a list/],
    ['a(uint8)', [256], /abiParameters\[0\] is outside the range of uint8/],
    ['a(uint8)', [-1], /outside the range/],
    ['a(int8)', [128], /outside the range/],
    ['a(uint256)', [(2n ** 256n).toString()], /outside the range/],
    ['a(uint256)', [2 ** 53], /send it as text/],
    ['a(uint256)', [1.5], /whole number/],
    ['a(uint256)', ['1.5'], /whole number/],
    ['a(uint256)', ['1e3'], /whole number/],
    ['a(uint256)', [' 1'], /whole number/],
    ['a(uint256)', ['01'], /whole number/],
    ['a(uint256)', [''], /whole number/],
    ['a(uint256)', [null], /whole number/],
    ['a(uint256)', [true], /whole number/],
    ['a(uint256)', [`0x${'f'.repeat(65)}`], /whole number/],
    ['a(bool)', [1], /true or false/],
    ['a(string)', [1], /must be text/],
    ['a(bytes)', ['0x123'], /odd number/],
    ['a(bytes)', ['beef'], /must be 0x/],
    ['a(bytes4)', ['0x123456'], /8 hexadecimal digits, for bytes4/],
    ['a(address)', ['0x1234'], /must be an address/],
    ['a(address)', [address.replace('F', 'f')], /checksum/],
    ['a(address[][])', [[[address], [address, '0x']]], /abiParameters\[0\]\[1\]\[1\] must be an address/],
  ] as [string, unknown[], RegExp][])('%s with %j', (signature, values, said) => {
    expect(problemOf(signature, values)).toMatch(said)
  })
})

describe('whatever is sent', () => {
  const type: fc.Arbitrary<string> = fc.letrec((tie) => ({
    type: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(
        'uint256',
        'int64',
        'bool',
        'address',
        'bytes',
        'bytes32',
        'string',
        'uint',
        'bytes0',
        '',
      ),
      tie('array'),
      tie('tuple'),
    ),
    array: fc
      .tuple(tie('type'), fc.constantFrom('[]', '[2]', '[99999]', '[0]'))
      .map((parts) => parts.join('')),
    tuple: fc.array(tie('type'), { maxLength: 4 }).map((parts) => `(${parts.join(',')})`),
  })).type as fc.Arbitrary<string>
  const signature = fc.oneof(
    fc.array(type, { maxLength: 4 }).map((types) => `f(${types.join(',')})`),
    fc.string({ unit: fc.constantFrom(...'f()[],uint256 '), maxLength: 60 }),
    anyText({ maxLength: 3_000 }),
  )
  const value = fc.oneof(
    fc.constantFrom('0', '-1', '0x', '0x01', address, true, '1000000', 2 ** 60, '', 'ff'.repeat(40)),
    fc.jsonValue({ maxDepth: 4 }),
  )

  it('it is encoded or refused by name, and soon', () => {
    fc.assert(
      fc.property(signature, fc.array(value, { maxLength: 5 }), (text, values) => {
        const judge = () => {
          try {
            expect(encodeCall(text, values)).toMatch(/^0x([0-9a-f]{2}){4,}$/)
          } catch (error) {
            if (!(error instanceof ValueProblem)) throw error
            expect(error.location).toMatch(/^(abiFunctionSignature|abiParameters(\[\d+\])*)$/)
          }
        }
        expect(leastCpuMs(judge, 50)).toBeLessThan(50)
      }),
      { numRuns: isDeep ? 3_000 : 600 },
    )
  })
})

function problemOf(signature: string, values: unknown[]): string {
  try {
    return encodeCall(signature, values)
  } catch (error) {
    if (error instanceof ValueProblem) return error.message
    throw error
  }
}
