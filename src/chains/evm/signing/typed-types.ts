import { ValueProblem } from '../../invalid-value.ts'
import { arrayOf, isAtomic } from '../abi/types.ts'

export type Field = { name: string; type: string }
export type StructTypes = ReadonlyMap<string, readonly Field[]>

const structsMax = 50
const fieldsMax = 200
const depthMax = 8

/** The fields that a domain may have, in the order in which they are hashed. */
const domainFields: readonly Field[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object of the request; throws ValueProblem for anything else. */
export function requireObject(value: unknown, location: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw new ValueProblem(location, value === undefined ? 'is missing' : 'must be an object')
}

/**
 * Reads `types`: every type is atomic, one of the structs, or an array of those. A domain type that is absent gets the
 * fields of the given domain.
 */
export function readTypes(value: unknown, domain: Record<string, unknown>): StructTypes {
  const given = Object.entries(requireObject(value, 'data.types'))
  if (given.length > structsMax) throw new ValueProblem('data.types', `has more than ${structsMax} types`)
  const types = new Map(given.map(([name, fields]) => [name, readStruct(name, fields)]))
  const count = [...types.values()].reduce((sum, fields) => sum + fields.length, 0)
  if (count > fieldsMax) throw new ValueProblem('data.types', `has more than ${fieldsMax} fields`)
  for (const [name, fields] of types)
    for (const [index, { type }] of fields.entries())
      requireKnown(type, types, `data.types.${name}[${index}].type`)
  const written = types.get('EIP712Domain')
  if (written) requireDomainFields(written)
  else types.set('EIP712Domain', impliedDomain(domain))
  return types
}

function readStruct(name: string, value: unknown): Field[] {
  const location = `data.types.${name.slice(0, 100)}`
  // A name like that of an atomic type would be hashed as one by some libraries and as a struct by others.
  if (!/^[A-Za-z_]\w{0,99}$/.test(name) || /^(u?int|bytes|address|bool|string|tuple)\d*$/.test(name))
    throw new ValueProblem(location, 'is not a name for a type')
  if (!Array.isArray(value)) throw new ValueProblem(location, 'must be a list of fields')
  const fields = value.map((field, index) => readField(field, `${location}[${index}]`))
  const twice = fields.find((field, index) => fields.findIndex(({ name }) => name === field.name) < index)
  if (twice) throw new ValueProblem(location, `has the field ${twice.name} twice`)
  return fields
}

function readField(value: unknown, location: string): Field {
  const { name, type } = requireObject(value, location)
  if (typeof name !== 'string' || !/^[A-Za-z_$][\w$]{0,99}$/.test(name))
    throw new ValueProblem(`${location}.name`, 'must be a name of letters, digits and underscores')
  if (typeof type !== 'string' || type.length > 200)
    throw new ValueProblem(`${location}.type`, 'must be a type')
  return { name, type }
}

function requireKnown(type: string, types: StructTypes, location: string): void {
  let base = type
  for (let depth = 0; ; depth++) {
    const array = arrayOf(base)
    if (!array) break
    if (depth >= depthMax) throw new ValueProblem(location, `nests deeper than ${depthMax} levels`)
    base = array.item
  }
  if (isAtomic(base) || (types.has(base) && base !== 'EIP712Domain')) return
  const reason = base === 'uint' || base === 'int' ? `must write ${base} as ${base}256` : 'is an unknown type'
  throw new ValueProblem(location, reason)
}

function requireDomainFields(fields: readonly Field[]): void {
  for (const [index, field] of fields.entries()) {
    const known = domainFields.find(({ name }) => name === field.name)
    if (known?.type !== field.type)
      throw new ValueProblem(`data.types.EIP712Domain[${index}]`, 'is not a field of a domain')
  }
}

function impliedDomain(domain: Record<string, unknown>): Field[] {
  return domainFields.filter(({ name }) => Object.hasOwn(domain, name))
}
