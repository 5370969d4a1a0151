import Type, { type TArray, type TObject, type TProperties, type TSchema } from 'typebox'
import { collectionProperties } from '#runtime/collection/query'
import { oncePer } from '#runtime/scheduling/memoize'
import type { Endpoint } from './endpoint.ts'

/** Returns the validated and documented query: the route's own filters and, for a list, the shared parameters. */
export const querySchema = oncePer((endpoint: Endpoint<never>): TObject | undefined => {
  if (!endpoint.collection) return endpoint.query
  return Type.Object({
    ...endpoint.query?.properties,
    ...collectionProperties(endpoint.collection),
  } as TProperties)
})

/** Returns the body, with `idempotencyKey` where the operation accepts one. */
export const bodySchema = oncePer((endpoint: Endpoint<never>): TObject | TArray | undefined => {
  const body = takesKnownFields(endpoint) ? closed(endpoint.body) : endpoint.body
  if (!body || isListBody(body) || !endpoint.idempotent) return body
  const key = Type.String({
    format: 'uuid',
    description: 'A UUID of your choice. Repeating the request with it has no further effect.',
  })
  return Type.Object({ idempotencyKey: key, ...body.properties } as TProperties, optionsOf(body))
})

/**
 * Whether a field that the operation does not know is refused, because it is a slip: of operators and of developers in a sandbox.
 * The published clients of the other operations may send more than is documented.
 */
const takesKnownFields = ({ path }: Endpoint<never>): boolean => /^\/(operator|sandbox)\//.test(path)

const closed = <Body extends TObject | TArray | undefined>(body: Body): Body =>
  body && 'properties' in body ? { ...body, additionalProperties: false } : body

/** Whether a body is a list, not an object. */
export const isListBody = (body: TObject | TArray): body is TArray => 'items' in body

const optionsOf = ({
  title,
  description,
  examples,
  additionalProperties,
}: TObject & {
  additionalProperties?: unknown
  title?: string
  description?: string
  examples?: unknown[]
}) => ({
  ...(title && { title }),
  ...(additionalProperties === false && { additionalProperties }),
  ...(description && { description }),
  ...(examples && {
    examples: examples.map((example) => ({ idempotencyKey: exampleKey, ...(example as object) })),
  }),
})

const exampleKey = '6f1f0a52-6c66-4e3c-8f0e-2a7ba20d1e10'

/** Returns the schema of a success body, with its envelope. */
export function responseSchema(endpoint: Endpoint<never>): TSchema | undefined {
  if (!endpoint.response) return undefined
  if (endpoint.enveloped === false) return endpoint.response
  return Type.Object({ data: endpoint.response }, { description: 'The envelope of every result.' })
}

const fieldErrorSchema = Type.Object(
  {
    error: Type.String({ description: 'The kind of error, such as required or invalid_value.' }),
    message: Type.String({ description: 'The reason, in English.' }),
    location: Type.String({ description: 'The field, such as amounts[0].' }),
    invalidValue: Type.Optional(Type.Unknown({ description: 'The refused value, shortened.' })),
    constraints: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'The limits of the field, such as min.' }),
    ),
  },
  { title: 'FieldError', description: 'An error of one field.' },
)

export const errorSchema = Type.Object(
  {
    code: Type.Integer({ description: 'The code of the error, to branch on.' }),
    message: Type.String({ description: 'The error in English: the field, the reason and the remedy.' }),
    error: Type.Optional(
      Type.String({ description: 'The same as message; on messages between chains alone.' }),
    ),
    errorCode: Type.Optional(
      Type.String({ description: 'The word with which error begins, where it does.' }),
    ),
    errors: Type.Optional(
      Type.Array(fieldErrorSchema, { description: 'The fields to blame, if there are any.' }),
    ),
  },
  { title: 'Error', description: 'The response to a request that failed.' },
)

/**
 * Returns the paths of an operation: the documented one, then the one that the specification writes
 * without the product prefix. Parameters are in Fastify's form.
 */
export function pathsOf(path: string): string[] {
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
  const short = url.replace(/^\/v1\/w3s/, '').replace(/^\/v1/, '')
  return short === url || url === '/v1/faucet/drips' ? [url] : [url, short]
}

const userTokenText = Type.String({
  description: 'The token of the user to act for, from POST /v1/w3s/users/token.',
})

/** The header that names the user. */
export const userTokenHeader = (need: 'required' | 'optional') =>
  Type.Object({ 'X-User-Token': need === 'required' ? userTokenText : Type.Optional(userTokenText) })
