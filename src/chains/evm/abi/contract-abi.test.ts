import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ValueProblem } from '../../invalid-value.ts'
import { readContractAbi } from './contract-abi.ts'
import { decodeValues } from './decode.ts'

const read = (items: unknown) => readContractAbi(JSON.stringify(items))

function problemOf(items: unknown): string {
  try {
    read(items)
  } catch (error) {
    if (error instanceof ValueProblem) return error.message
    throw error
  }
  throw new Error('it is accepted')
}

const nested = (depth: number): object =>
  depth === 0 ? { name: 'x', type: 'uint8' } : { name: 'x', type: 'tuple', components: [nested(depth - 1)] }
const func = (inputs: unknown[]) => ({ type: 'function', name: 'f', inputs, outputs: [] })

describe('an ABI', () => {
  it('is read in its order, with the forms of old compilers', () => {
    const { functions, events, errors } = read([
      { type: 'constructor', inputs: [{ name: 'a', type: 'uint' }], stateMutability: 'payable' },
      { name: 'old', constant: true, inputs: [], outputs: [{ name: '', type: 'int[2][]' }] },
      { type: 'event', name: 'E', inputs: [{ name: 'who', type: 'address', indexed: true }] },
      { type: 'error', name: 'Bad', inputs: [] },
      { type: 'receive', stateMutability: 'payable' },
    ])
    expect(functions.map(({ type, stateMutability }) => [type, stateMutability])).toEqual([
      ['constructor', 'payable'],
      ['function', 'view'],
      ['receive', 'payable'],
    ])
    expect(functions[0]!.inputs).toEqual([{ name: 'a', type: 'uint256' }])
    expect(functions[1]!.outputs).toEqual([{ name: '', type: 'int256[2][]' }])
    expect(events[0]!.inputs).toEqual([{ name: 'who', type: 'address', indexed: true }])
    expect(errors).toEqual([{ name: 'Bad', inputs: [] }])
  })

  it.each([
    ['a tuple that nests without end', [func([nested(30)])], /nests deeper than 8 levels/],
    ['a tuple without components', [func([{ name: 'x', type: 'tuple[]' }])], /components is missing/],
    ['an array without items', [func([{ name: 'x', type: 'uint8[0]' }])], /inputs\[0\].type must be a type/],
    ['an array of ten dimensions', [func([{ name: 'x', type: `uint8${'[]'.repeat(10)}` }])], /type must be/],
    ['an unknown type', [func([{ name: 'x', type: 'Storage' }])], /abiJson\[0\].inputs\[0\].type/],
    ['an unknown item', [{ type: 'struct', name: 'S' }], /abiJson\[0\].type must be one of/],
    ['a function with a signature as its name', [{ ...func([]), name: 'f(uint8)' }], /abiJson\[0\].name/],
    ['two constructors', [{ type: 'constructor' }, { type: 'constructor' }], /more than one constructor/],
    ['a thousand parameters', [func(Array(101).fill({ name: '', type: 'bool' }))], /more than 100 items/],
    [
      'parameters without end',
      Array(1_000).fill(func(Array(20).fill({ type: 'bool' }))),
      /more than 10000 parameters/,
    ],
    ['a text', 'uint256', /JSON list/],
  ])('is refused with %s', (_, items, problem) => {
    expect(problemOf(items)).toMatch(problem)
  })

  it('any JSON is read or refused by name', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.jsonValue(),
            fc.jsonValue().map((x) => func([x])),
          ),
          { maxLength: 5 },
        ),
        (items) => {
          try {
            read(items)
          } catch (error) {
            expect(error).toBeInstanceOf(ValueProblem)
          }
        },
      ),
    )
  })

  it('any data is decoded or refused, in bounded time', () => {
    const { functions } = read([
      {
        type: 'function',
        name: 'f',
        outputs: [nested(3), { type: 'string[][]' }, { type: 'bytes' }, { type: 'uint64' }],
      },
    ])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const values = decodeValues(functions[0]!.outputs, `0x${Buffer.from(bytes).toString('hex')}`)
        expect(values === undefined || values.length === 4).toBe(true)
      }),
    )
    // A list of 2^32 lists that all lie at the same place.
    const bomb =
      `0x${'20'.padStart(64, '0')}${'ffffffff'.padStart(64, '0')}${''.padStart(64 * 40, '0')}` as const
    expect(decodeValues([{ type: 'uint256[][]' }], bomb)).toBeUndefined()
  })
})
