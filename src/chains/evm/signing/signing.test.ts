import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '#testing/processes/cpu-time'
import { isDeep } from '#testing/runner/size'
import { TransactionProblem } from '../../facets/signing.ts'
import { ValueProblem } from '../../invalid-value.ts'
import { readRawTransaction, readTransaction } from './sign-transaction.ts'
import { readTypedData } from './sign-typed-data.ts'

const text = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '0x',
    '0x01',
    'uint256',
    'bytes',
    'A',
    'B',
    'A[]',
    'B[2]',
    'uint',
    '__proto__',
    'constructor',
  ),
  fc.constantFrom(
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '115792089237316195423570985008687907853',
    'legacy',
  ),
  fc.string({ maxLength: 12 }),
)
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 3 }), fc.double(), fc.integer())

const field = fc.record({ name: text, type: text }, { requiredKeys: ['name'] })
const typedData = fc.record(
  {
    types: fc.dictionary(text, fc.oneof(fc.array(field, { maxLength: 4 }), value), { maxKeys: 4 }),
    domain: fc.oneof(fc.dictionary(fc.constantFrom('name', 'version', 'chainId', 'x', 'salt'), value), value),
    primaryType: text,
    message: fc.oneof(fc.dictionary(text, value), value),
  },
  { requiredKeys: [] },
)

/** Structs that refer to each other in all ways, with a message of the same depth. */
const entangled = fc
  .array(fc.constantFrom('A', 'B', 'A[]', 'B[]', 'B[1]', 'bool'), { minLength: 1, maxLength: 4 })
  .map((types) => {
    const fields = types.map((type, index) => ({ name: `f${index}`, type }))
    const grow = (depth: number): unknown =>
      Object.fromEntries(
        fields.map(({ name, type }) => {
          if (type === 'bool') return [name, true]
          if (depth > 9) return [name, type.endsWith('[]') ? [] : null]
          const inner = grow(depth + (types.length > 2 ? 4 : 1))
          return [name, type.endsWith(']') ? [inner] : inner]
        }),
      )
    return { types: { A: fields, B: fields }, domain: {}, primaryType: 'A', message: grow(0) }
  })

const transaction = fc.dictionary(
  fc.constantFrom(
    'to',
    'from',
    'value',
    'gas',
    'gasPrice',
    'maxFeePerGas',
    'maxPriorityFeePerGas',
    'nonce',
    'chainId',
    'data',
    'type',
  ),
  fc.oneof({ weight: 3, arbitrary: fc.nat() }, { weight: 1, arbitrary: value }),
)
const raw = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  fc
    .uint8Array({ maxLength: 60 })
    .map((bytes) => `0x02${Buffer.from([0xc0 + bytes.length, ...bytes]).toString('hex')}`),
  text,
)

describe('whatever is to be signed', () => {
  it.each([
    ['typed data', fc.oneof(typedData, entangled, value), readTypedData],
    ['a transaction', fc.oneof(transaction, value), readTransaction],
    ['raw bytes', raw, readRawTransaction],
  ] as [string, fc.Arbitrary<unknown>, (input: never) => { digest: Buffer }][])(
    '%s has a digest or is refused by name, and soon',
    (_, input, read) => {
      fc.assert(
        fc.property(input, (given) => {
          const judge = () => {
            try {
              expect(read(given as never).digest).toHaveLength(32)
            } catch (error) {
              if (!(error instanceof ValueProblem || error instanceof TransactionProblem)) throw error
              expect(error.location).not.toBe('')
            }
          }
          expect(leastCpuMs(judge, 200)).toBeLessThan(200)
        }),
        { numRuns: isDeep ? 1_000 : 200 },
      )
    },
  )

  it('the most entangled typed data is read in a bearable time', () => {
    const names = Array.from({ length: 50 }, (_, index) => `S${index}`)
    const types = Object.fromEntries(
      names.map((name, index) => [
        name,
        [0, 1, 2, 3].map((step) => ({ name: `f${step}`, type: `${names[(index + step + 1) % 50]}[]` })),
      ]),
    )
    const leaf = { f0: [], f1: [], f2: [], f3: [] }
    const message = { f0: Array(390).fill(leaf), f1: [], f2: [], f3: [] }
    const data = { types, domain: {}, primaryType: 'S0', message }
    expect(readTypedData(data).digest).toHaveLength(32)
    expect(leastCpuMs(() => readTypedData(data), 1_000)).toBeLessThan(1_000)
  })
})
