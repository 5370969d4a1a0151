/**
 * Chooses the part of a value that the request log may show: an allow-list by its schema, and never a search for what looks like a secret. A
 * value is shown if its schema has a closed language (a boolean, a number, an enumeration, a UUID, a date, a decimal number,
 * or the form that `~log` names) and the value belongs to it. Everything else is redacted: open text, values of
 * another form, members that the schema does not know. So a field without an annotation is dropped.
 */
import type { TSchema } from 'typebox'
import { formOfFormat, hasForm, isSecretName, isSecretPart, type LogForm, type LogSide } from './forms.ts'

/** Returns the part of a value that the log shows. */
export type Keeper = (value: unknown) => unknown

export const redacted = '[redacted]'

type LoggedSchema = {
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  format?: string
  properties?: Record<string, LoggedSchema>
  items?: LoggedSchema
  anyOf?: readonly LoggedSchema[]
  oneOf?: readonly LoggedSchema[]
  allOf?: readonly LoggedSchema[]
  '~log'?: LogForm
}

/** `name` is that of the field which holds the value. */
export const keeperOf = (schema: TSchema, side: LogSide, name = ''): Keeper =>
  compile([schema as LoggedSchema], side, name)

const redact: Keeper = () => redacted

function compile(schemas: readonly LoggedSchema[], side: LogSide, name: string): Keeper {
  if (isSecretPart(name)) return redact
  const all = schemas.flatMap(branchesOf)
  const isKept = isSecretName(name) ? () => false : scalarTestOf(all, side)
  const items = all.flatMap((schema) => (schema.items ? [schema.items] : []))
  const item = items.length > 0 ? compile(items, side, name) : redact
  const members = membersOf(all, side)
  return (value) => {
    if (value === null || value === undefined) return value
    if (Array.isArray(value)) return value.map(item)
    if (typeof value === 'object') return members ? members(value) : redacted
    return isKept(value) ? value : redacted
  }
}

/** Shows the members that some branch knows, under the names of the schema; a further member could have any name. */
function membersOf(all: readonly LoggedSchema[], side: LogSide): ((value: object) => object) | undefined {
  const byName = new Map<string, LoggedSchema[]>()
  for (const { properties = {} } of all)
    for (const [name, schema] of Object.entries(properties))
      byName.set(name, [...(byName.get(name) ?? []), schema])
  if (byName.size === 0) return undefined
  const keepers = new Map([...byName].map(([name, own]) => [name, compile(own, side, name)]))
  const byLower = new Map([...byName.keys()].map((name) => [name.toLowerCase(), name]))
  return (value) => {
    const shown: Record<string, unknown> = {}
    for (const [given, member] of Object.entries(value)) {
      const name = keepers.has(given) ? given : byLower.get(given.toLowerCase())
      if (name !== undefined && !Object.hasOwn(shown, name)) shown[name] = keepers.get(name)!(member)
    }
    return shown
  }
}

/** A value of several branches is kept only if no branch takes open text. */
function scalarTestOf(all: readonly LoggedSchema[], side: LogSide): (value: unknown) => boolean {
  const tests = all.map((schema) => testOf(schema, side)).filter((test) => test !== undefined)
  if (tests.includes(open)) return open
  return (value) => tests.some((test) => test(value))
}

const open = () => false

/** `undefined` for a schema that takes no scalar, or leaves that to its branches. */
function testOf(schema: LoggedSchema, side: LogSide): ((value: unknown) => boolean) | undefined {
  const form = schema['~log'] ?? (schema.format === undefined ? undefined : formOfFormat[schema.format])
  if (form) return (value) => typeof value === 'string' && hasForm(form, value, side)
  if (schema.enum) {
    const known = new Set(schema.enum.map(String))
    return (value) => known.has(String(value))
  }
  if (schema.const !== undefined) return (value) => value === schema.const
  if (schema.type === 'boolean') return (value) => /^(true|false)$/.test(String(value))
  if (schema.type === 'integer' || schema.type === 'number') return isNumber
  if (schema.type === 'string') return open
  const isWrapper = schema.properties ?? schema.items ?? schema.anyOf ?? schema.oneOf ?? schema.allOf
  return isWrapper || schema.type === 'null' || schema.type === 'object' || schema.type === 'array'
    ? undefined
    : open
}

/** Parameters of addresses are texts. */
const isNumber = (value: unknown) => /^-?\d{1,15}(\.\d{1,15})?$/.test(String(value))

function branchesOf(schema: LoggedSchema): readonly LoggedSchema[] {
  const more = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  // The form of a union is that of its texts.
  const form = schema['~log']
  const branches = more.flatMap(branchesOf)
  if (form === undefined || more.length === 0) return [schema, ...branches]
  return [schema, ...branches.filter(({ type }) => type !== 'string')]
}
