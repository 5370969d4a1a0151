import fc from 'fast-check'
import type { SeededRandom } from '#testing/adversary/seeded-random'
import { anyText } from './any-text.ts'

/** Text that has broken parsers before; used in every text field. */
const hostileTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202e\u200b\ufeff',
  '😀'.repeat(300),
  'x'.repeat(256),
  'x'.repeat(100_000),
  "'; drop table wallets; --",
  '<script>alert(1)</script>',
  '%00',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  '-0',
  '-1',
  '+1',
  '01',
  '.5',
  '1.',
  '1e3',
  '0x10',
  '1,000',
  '1.0000001',
  '0.00000000000000000000000001',
  '9'.repeat(78),
  '9'.repeat(400),
  (2n ** 256n - 1n).toString(),
  (2n ** 256n).toString(),
  '٣',
  '１２',
  '1\n',
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-4000-8000-000000000000}',
  '0x0000000000000000000000000000000000000000',
  '0X00000000000000000000000000000000000000aa',
  '0x036CbD53842c5426634e7929541eC2318f3dCF7E',
  'vitalik.eth',
  '2026-02-30T00:00:00Z',
  '+010000-01-01T00:00:00Z',
]

const hostileValues: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  0.1,
  1.5,
  2 ** 53,
  1e308,
  -1e-7,
  [],
  {},
  [[]],
  [null],
  ['', ''],
  { length: 1 },
  { toString: 'x' },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  { constructor: { prototype: { polluted: true } } },
  Array.from({ length: 300 }, (_, index) => index),
]

/** Values that exist in the world of the test, such as real ids and addresses. */
export type Vocabulary = { texts: readonly string[] }

type Schema = {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  format?: string
  anyOf?: readonly Schema[]
  properties?: Record<string, Schema>
  required?: readonly string[]
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

/** A value that the schema accepts, most of the time; with real ids in id fields. */
export function validValue(schema: Schema, vocabulary: Vocabulary): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((option) => validValue(option, vocabulary)))
  switch (schema.type) {
    case 'object':
      return validObject(schema, vocabulary)
    case 'array':
      return fc.array(validValue(schema.items ?? {}, vocabulary), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, Math.max(3, schema.minItems ?? 0)),
      })
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? -3, max: Math.min(schema.maximum ?? 60, 60) })
    case 'boolean':
      return fc.boolean()
    default:
      return validText(schema, vocabulary)
  }
}

function validText({ format, minLength = 0, maxLength = 40 }: Schema, { texts }: Vocabulary) {
  const known = fc.constantFrom(...texts)
  const decimals = fc.constantFrom('0', '1', '0.01', '0.000001', '12.50', '1000000')
  const dates = fc.constantFrom('2020-01-01T00:00:00Z', '2030-01-01T00:00:00.123456+05:30')
  if (format === 'uuid') return fc.oneof(known, fc.uuid())
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (format === 'decimal') return decimals
  const free = anyText({ minLength, maxLength: Math.min(maxLength, 60) })
  return fc.oneof(known, decimals, dates, free)
}

function validObject({ properties = {}, required = [] }: Schema, vocabulary: Vocabulary) {
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, validValue(member, vocabulary)]),
  )
  return fc.record(model, { requiredKeys: [...required] })
}

const spoiled: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.constantFrom(...hostileValues),
  anyText({ maxLength: 30 }),
  fc.double(),
  fc.jsonValue({ maxDepth: 3 }),
)

/**
 * A valid or nearly valid object: `example` or one made from the schema, with a few optional members set, and up to three
 * members removed, spoiled or added.
 */
export function nearObject(
  schema: Schema,
  example: Record<string, unknown> | undefined,
  vocabulary: Vocabulary,
): fc.Arbitrary<Record<string, unknown>> {
  const properties = schema.properties ?? {}
  const names = Object.keys(properties)
  const made = validObject(schema, vocabulary) as fc.Arbitrary<Record<string, unknown>>
  const base = example ? fc.oneof({ weight: 4, arbitrary: fc.constant(example) }, made) : made
  const sets = names.map((name) =>
    fc.tuple(
      fc.constant(name),
      validValue(properties[name]!, vocabulary).map((value) => ({ value })),
    ),
  )
  const spoils = fc.tuple(
    fc.constantFrom(...names, 'unknown', '__proto__', 'constructor', 'entityId', 'id', 'state'),
    fc.oneof(
      fc.constant({ drop: true as const }),
      spoiled.map((value) => ({ value })),
    ),
  )
  const few = (max: number) => ({ maxLength: max, size: 'max' as const })
  return fc
    .tuple(
      base,
      sets.length > 0 ? fc.array(fc.oneof(...sets), few(2)) : fc.constant([]),
      fc.oneof(fc.constant([]), fc.array(spoils, few(2))),
    )
    .map(([valid, set, spoil]) => changed(valid, [...set, ...spoil]))
}

type Change = { drop: true } | { value: unknown }

/** `defineProperty`, so that a member named __proto__ is sent as one. */
function changed(valid: Record<string, unknown>, changes: [string, Change][]): Record<string, unknown> {
  const members = new Map<string, unknown>(Object.entries(valid))
  for (const [name, change] of changes) {
    if ('drop' in change) members.delete(name)
    else members.set(name, change.value)
  }
  const object: Record<string, unknown> = {}
  for (const [name, value] of members)
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  return object
}

/**
 * The object with one member at a time replaced by one hostile value: those it has, at any depth, and those it may have. Each
 * member meets `each` values, drawn by `random`, or all of them.
 */
export function* spoiledOneByOne(
  example: Record<string, unknown>,
  names: readonly string[],
  { each, random }: { each: number; random: SeededRandom },
): Generator<{ path: string; object: Record<string, unknown> }> {
  const paths = [...new Set([...pathsIn(example), ...names])]
  for (const path of paths) {
    for (const value of random.sample<unknown>([...hostileTexts, ...hostileValues], each))
      yield { path, object: replaced(example, path, value) }
  }
}

function pathsIn(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return at === '' ? [] : [at]
  return Object.entries(value).flatMap(([key, member]) => pathsIn(member, at === '' ? key : `${at}.${key}`))
}

function replaced(example: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const copy = structuredClone(example)
  const steps = path.split('.')
  let parent = copy as Record<string, unknown>
  for (const step of steps.slice(0, -1)) parent = parent[step] as Record<string, unknown>
  parent[steps.at(-1)!] = value
  return copy
}

/** Bodies that are not, or barely, a JSON object. */
export const brokenBodies: readonly string[] = [
  '',
  ' ',
  'null',
  'true',
  '1',
  '"text"',
  '[]',
  '[{}]',
  '{',
  '{"a":1,}',
  '{"a":NaN}',
  "{'a':1}",
  '// comment\n{}',
  '\ufeff{}',
  '{"a":"\\ud800"}',
  '{"a":"\u0000"}',
  '{"a":1e999}',
  '{"amounts":["1"],"amounts":["2"]}',
  '['.repeat(20_000),
  `${'['.repeat(500)}${']'.repeat(500)}`,
  `{"a":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
  `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
]
