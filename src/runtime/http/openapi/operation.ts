import type { TArray, TObject } from 'typebox'
import type { Endpoint } from '../endpoint.ts'
import { bodySchema, querySchema, responseSchema, userTokenHeader } from '../schemas.ts'
import type { Annotated } from './annotate.ts'
import { type Components, refer } from './components.ts'
import { errorResponses } from './errors.ts'
import { headersOf } from './headers.ts'
import { openApiSchema } from './schema.ts'

/** Describes one operation; its shared parts go to `components`. */
export function operationOf(endpoint: Endpoint<never>, components: Components): object {
  const parameters = [
    ...parametersOf('path', endpoint.params, components),
    ...parametersOf('query', querySchema(endpoint), components),
    ...parametersOf(
      'header',
      userTokenNeed(endpoint) && userTokenHeader(userTokenNeed(endpoint)!),
      components,
    ),
  ]
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    description: endpoint.description,
    tags: [endpoint.tag],
    security: securityOf(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.body && { requestBody: requestBodyOf(bodySchema(endpoint)!, components) }),
    ...(takesBytes(endpoint) && { requestBody: { content: { '*/*': {} } } }),
    responses: { ...errorResponses(endpoint, components), ...successes(endpoint, components) },
  }
}

const securityOf = ({ auth }: Endpoint<never>) =>
  auth === 'none' || auth === 'user'
    ? []
    : [{ [auth === 'clientKey' || auth === 'member' ? auth : 'apiKey']: [] }]

const takesBytes = ({ raw, method }: Endpoint<never>) => raw && method !== 'GET'

const userTokenNeed = ({ auth, userToken }: Endpoint<never>) => (auth === 'user' ? 'required' : userToken)

function parametersOf(place: string, schema: TObject | undefined, components: Components): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { '~parameter': shared, ...own } = property as Annotated
    const { description: _, allOf, ...rest } = openApiSchema(own as Annotated, components)
    const parameter = {
      name,
      in: place,
      required: (schema!.required ?? []).includes(name),
      description: own['~about'] ?? own.description,
      schema: allOf ? (allOf as object[])[0] : rest,
    }
    return shared === undefined ? parameter : refer(components, 'parameters', shared, parameter)
  })
}

function requestBodyOf(schema: TObject | TArray, components: Components): object {
  const { examples, ...shape } = schema as (TObject | TArray) & { examples?: unknown[] }
  const content = { schema: openApiSchema(shape, components), ...(examples && { example: examples[0] }) }
  return { required: true, content: { 'application/json': content } }
}

function successes(endpoint: Endpoint<never>, components: Components): Record<number, object> {
  const { status = 200, idempotent, alternatives, troubleStatus } = endpoint
  const replayStatus = idempotent && (idempotent.replayStatus ?? 200)
  const first = { 201: 'Created.', 202: 'Accepted.' }[status as number] ?? 'Success.'
  const repeated = 'If the request repeats an accepted one, the resource as it is now.'
  const texts: Record<number, string> = {
    ...(replayStatus && { [replayStatus]: repeated }),
    [status]: replayStatus === status ? `${first} ${repeated}` : first,
    ...alternatives,
    ...(troubleStatus && { [troubleStatus]: 'Not ready. The response shows which part is not.' }),
  }
  return Object.fromEntries(
    Object.entries(texts).map(([each, text]) => [each, successOf(endpoint, Number(each), text, components)]),
  )
}

function successOf(endpoint: Endpoint<never>, status: number, description: string, components: Components) {
  const schema = status === 204 ? undefined : responseSchema(endpoint)
  const headers = headersOf(
    ['X-Request-Id', ...(endpoint.collection && status === 200 ? (['Link'] as const) : [])],
    components,
  )
  if (!schema) return { description, headers }
  const type = endpoint.media ?? 'application/json'
  return { description, headers, content: { [type]: { schema: openApiSchema(schema, components) } } }
}
