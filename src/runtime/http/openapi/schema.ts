import type { TSchema } from 'typebox'
import type { Annotated } from './annotate.ts'
import { type Components, refer } from './components.ts'

type Json = Record<string, unknown>

/** Translates a schema to the dialect of OpenAPI 3.0; named schemas become components and references to them. */
export function openApiSchema(schema: TSchema, components: Components): Json {
  const { title, '~about': about, ...own } = schema as Annotated & Json
  if (title === undefined) return translated(own, components)
  const reference = refer(components, 'schemas', title, translated(own, components))
  // Other members beside a reference are ignored in OpenAPI 3.0.
  return about === undefined ? reference : { allOf: [reference], description: about }
}

function translated(schema: Json, components: Components): Json {
  const { examples, patternProperties, anyOf, ...rest } = schema as Json & {
    examples?: unknown[]
    patternProperties?: Record<string, TSchema>
    anyOf?: TSchema[]
  }
  const result: Json = Array.isArray(rest['enum']) ? { type: typeof rest['enum'][0] } : {}
  for (const [key, value] of Object.entries(rest)) {
    if (key.startsWith('~')) continue
    if (key === 'items') result[key] = openApiSchema(value as TSchema, components)
    else if (key === 'properties') result[key] = eachSchema(value as Record<string, TSchema>, components)
    else if (key === 'type' && value === 'null') Object.assign(result, nothing)
    else result[key] = value
  }
  if (patternProperties)
    result['additionalProperties'] = openApiSchema(Object.values(patternProperties)[0]!, components)
  if (examples) result['example'] = examples[0]
  return anyOf ? { ...union(anyOf, components), ...result } : result
}

/** OpenAPI 3.0 has no type for null alone. */
const nothing = { type: 'object', nullable: true, enum: [null] }

/** OpenAPI 3.0 writes "or null" as `nullable`. */
function union(options: readonly TSchema[], components: Components): Json {
  const isNull = (option: TSchema) => (option as Json)['type'] === 'null'
  const others = options
    .filter((option) => !isNull(option))
    .map((option) => openApiSchema(option, components))
  const nullable = options.some(isNull) && { nullable: true }
  if (others.length > 1) return { anyOf: others, ...nullable }
  const [only] = others
  return '$ref' in only! && nullable ? { allOf: [only], ...nullable } : { ...only, ...nullable }
}

const eachSchema = (schemas: Record<string, TSchema>, components: Components): Json =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, openApiSchema(schema, components)]),
  )
