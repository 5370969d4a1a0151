/**
 * Reads a JSON body as decoders of other platforms do, before it is validated: the letter case of a field's name does not
 * count, and null in a field is absence, unless the schema gives null a meaning.
 */
import type { TSchema } from 'typebox'

type Schema = {
  type?: string | readonly string[]
  const?: unknown
  enum?: readonly unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
}

/** Returns the value with the names of the schema, and without members that are absent; the value itself stays as it is. */
export const readMembers = (schema: TSchema, value: unknown): unknown =>
  read([schema as Schema], value, admitsNull)

/** The same without any null in a field: the meaning of a null field does not matter where two requests are compared. */
export const comparedMembers = (schema: TSchema, value: unknown): unknown =>
  read([schema as Schema], value, () => false)

function read(schemas: readonly Schema[], value: unknown, isMeant: (schema: Schema) => boolean): unknown {
  if (typeof value !== 'object' || value === null) return value
  const all = schemas.flatMap(branchesOf)
  if (Array.isArray(value)) {
    const items = all.flatMap((schema) => (schema.items ? [schema.items] : []))
    return items.length === 0 ? value : value.map((item) => read(items, item, isMeant))
  }
  const named = all.filter(({ properties }) => properties !== undefined)
  if (named.length === 0) return value
  const known = new Set(named.flatMap(({ properties }) => Object.keys(properties!)))
  const names = nameIn(known, value)
  const members: [string, unknown][] = []
  for (const [given, member] of Object.entries(value)) {
    const name = names(given)
    const own = named.flatMap(({ properties }) =>
      Object.hasOwn(properties!, name) ? [properties![name]!] : [],
    )
    if (member === null && own.length > 0 && !own.some(isMeant)) continue
    members.push([name, own.length === 0 ? member : read(own, member, isMeant)])
  }
  // `fromEntries` defines members, so that one named `__proto__` is a member like any other.
  return Object.fromEntries(members)
}

/** Finds the field that a member stands for: of two members that differ in letter case, the exact one wins. */
function nameIn(known: ReadonlySet<string>, value: object): (given: string) => string {
  const byLower = new Map([...known].map((name) => [name.toLowerCase(), name]))
  return (given) => {
    if (known.has(given)) return given
    const name = byLower.get(given.toLowerCase())
    return name === undefined || Object.hasOwn(value, name) ? given : name
  }
}

function branchesOf(schema: Schema): readonly Schema[] {
  const more = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [schema, ...more.flatMap(branchesOf)]
}

function admitsNull(schema: Schema): boolean {
  const { type, anyOf, oneOf } = schema
  if (schema.const === null || schema.enum?.includes(null)) return true
  if (type !== undefined) return type === 'null' || (Array.isArray(type) && type.includes('null'))
  const branches = anyOf ?? oneOf
  if (branches) return branches.some(admitsNull)
  return schema.enum === undefined && !('const' in schema)
}
