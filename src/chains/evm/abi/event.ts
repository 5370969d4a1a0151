import { keccak256, toBytes } from 'viem'
import type { Hex } from '#lib/hex'
import type { AbiEvent, AbiParameter, EventSignature } from '../../facets/contracts.ts'
import { ValueProblem } from '../../invalid-value.ts'
import { decodeValues } from './decode.ts'
import { functionSignature } from './encode.ts'
import { type NamedType, parseEventSignature } from './signature.ts'
import { type AbiType, arrayOf } from './types.ts'

/** A log has four topics; the first of them is the hash of the event. */
const indexedMax = 3

/** Reads the signature of an event in either spelling. Throws ValueProblem at `eventSignature`. */
export function readEventSignature(text: string): EventSignature {
  const { name, parameters } = parseEventSignature(text)
  const inputs = parameters.map(declared)
  if (parameters.some(isInside)) throw problem('has "indexed" inside a tuple')
  if (inputs.filter(({ indexed }) => indexed).length > indexedMax)
    throw problem(`has more than ${indexedMax} indexed parameters`)
  const isDeclared = inputs.length === 0 || parameters.some((each) => each.name ?? each.indexed)
  const canonical = functionSignature(name, inputs)
  return { name, canonical, hash: keccak256(toBytes(canonical)), inputs: isDeclared ? inputs : undefined }
}

const problem = (reason: string) => new ValueProblem('eventSignature', reason)

const declared = ({ name = '', type, indexed = false, components }: NamedType): AbiParameter => ({
  name,
  type,
  indexed,
  ...(components && { components: components.map(component) }),
})

const component = ({ name = '', type, components }: NamedType): AbiParameter => ({
  name,
  type,
  ...(components && { components: components.map(component) }),
})

const isInside = ({ components = [] }: NamedType): boolean =>
  components.some((each: NamedType) => each.indexed || isInside(each))

export const canonicalEvent = ({ name, inputs }: AbiEvent): string => functionSignature(name, inputs)

/**
 * The values of a log in the order of the declaration, as JSON; an indexed value of dynamic size is its hash. `undefined` where
 * topics or data do not fit. Both are untrusted.
 */
export function decodeLog(
  inputs: readonly AbiParameter[],
  topics: readonly Hex[],
  data: Hex,
): unknown[] | undefined {
  const inTopics = inputs.filter(({ indexed }) => indexed)
  if (topics.length !== inTopics.length + 1) return undefined
  const fromData = decodeValues(
    inputs.filter(({ indexed }) => !indexed),
    data,
  )
  const fromTopics = inTopics.map((input, index) => valueOfTopic(input, topics[index + 1]!))
  if (!fromData || fromTopics.includes(undefined)) return undefined
  return inputs.map(({ indexed }) => (indexed ? fromTopics : fromData).shift())
}

const valueOfTopic = (type: AbiType, topic: Hex): unknown =>
  isHashed(type) ? topic : decodeValues([type], topic)?.[0]

const isHashed = ({ type, components }: AbiType): boolean =>
  components !== undefined || arrayOf(type) !== undefined || type === 'string' || type === 'bytes'
