import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { type ErrorName, errorKinds } from '#lib/error-kinds'
import { oncePer } from '#lib/once'
import { collectionProperties } from '#runtime/collection/query'
import { type Endpoint, isChanging } from './endpoint.ts'

/** Returns the validated and documented query: the route's own filters and, for a list, the shared parameters. */
export const querySchema = oncePer((endpoint: Endpoint<never>): TObject | undefined => {
  if (!endpoint.collection) return endpoint.query
  return Type.Object({
    ...endpoint.query?.properties,
    ...collectionProperties(endpoint.collection),
  } as TProperties)
})

/** Returns the body, with `idempotencyKey` where the operation accepts one. */
export const bodySchema = oncePer((endpoint: Endpoint<never>): TObject | undefined => {
  if (!endpoint.body || !endpoint.idempotent) return endpoint.body
  const key = Type.String({
    format: 'uuid',
    description: 'A UUID that makes repeating this request harmless.',
  })
  return Type.Object(
    { idempotencyKey: key, ...endpoint.body.properties } as TProperties,
    optionsOf(endpoint.body),
  )
})

const optionsOf = ({
  description = '',
  examples,
}: TObject & { description?: string; examples?: unknown[] }) => ({
  description,
  ...(examples && {
    examples: examples.map((example) => ({ idempotencyKey: exampleKey, ...(example as object) })),
  }),
})

const exampleKey = '6f1f0a52-6c66-4e3c-8f0e-2a7ba20d1e10'

/** Returns the schema of a success body, with its envelope. */
export function responseSchema(endpoint: Endpoint<never>): TSchema | undefined {
  if (!endpoint.response) return undefined
  if (endpoint.enveloped === false) return endpoint.response
  return Type.Object({ data: endpoint.response })
}

export const errorSchema = Type.Object({
  code: Type.Integer(),
  message: Type.String(),
  errors: Type.Optional(
    Type.Array(
      Type.Object({
        error: Type.String(),
        message: Type.String(),
        location: Type.String(),
        invalidValue: Type.Optional(Type.Unknown()),
        constraints: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      }),
    ),
  ),
})

/**
 * Returns the paths of an operation: the documented one, then the one that the specification writes
 * without the product prefix. Parameters are in Fastify's form.
 */
export function pathsOf(path: string): string[] {
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
  const short = url.replace(/^\/v1\/w3s/, '').replace(/^\/v1/, '')
  return short === url || url === '/v1/faucet/drips' ? [url] : [url, short]
}

const userTokenHeader = Type.Object({
  'X-User-Token': Type.Optional(
    Type.String({ description: 'Acts for this user. This version issues no user tokens, so it knows none.' }),
  ),
})

/** Adds 429 to writes and requests with a ciphertext: they queue, and an entity with too many of them has some refused. */
const errorsOf = (endpoint: Endpoint<never>): readonly ErrorName[] => {
  const { errors, body } = endpoint
  const takesTurns = isChanging(endpoint) || 'entitySecretCiphertext' in (body?.properties ?? {})
  return takesTurns ? [...errors, 'tooManyRequests'] : errors
}

/** Returns the schema object of one route for the OpenAPI generator. */
export function openApiRoute(endpoint: Endpoint<never>): object {
  const success = endpoint.status ?? 200
  const response = responseSchema(endpoint)
  const statuses = new Map<number, string[]>()
  for (const name of errorsOf(endpoint)) {
    const { status, code, text } = errorKinds[name]
    statuses.set(status, [...(statuses.get(status) ?? []), `${code}: ${text}`])
  }
  const failures = [...statuses].map(([status, lines]) => [
    status,
    { description: lines.join('\n\n'), ...errorSchema },
  ])
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    tags: [endpoint.tag],
    ...(endpoint.media && { produces: [endpoint.media] }),
    ...(endpoint.auth !== 'none' && { security: [{ apiKey: [] }] }),
    ...(endpoint.takesUserToken && { headers: userTokenHeader }),
    ...(endpoint.params && { params: endpoint.params }),
    ...(querySchema(endpoint) && { querystring: querySchema(endpoint) }),
    ...(bodySchema(endpoint) && { body: bodySchema(endpoint) }),
    response: {
      [success]: response
        ? { description: 'Success', ...response }
        : { type: 'null', description: 'Success' },
      ...(success === 201 &&
        endpoint.idempotent &&
        endpoint.idempotent.replayStatus !== 201 && {
          200: { description: 'A repeated request', ...response },
        }),
      ...Object.fromEntries(failures),
      ...(endpoint.troubleStatus && { [endpoint.troubleStatus]: { description: 'Trouble', ...response } }),
    },
  }
}
