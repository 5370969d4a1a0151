import { type ErrorName, errorKinds } from '#lib/error-kinds'
import type { Endpoint } from '../endpoint.ts'
import { errorSchema } from '../schemas.ts'
import { type Components, refer } from './components.ts'
import { headersOf } from './headers.ts'
import { openApiSchema } from './schema.ts'

const userTokenErrors = ['userTokenUnknown', 'userTokenExpired', 'userTokenInvalid', 'userDisabled'] as const

/** Returns the errors of an operation: its own, and those of the parts of the server that each request passes. */
export function errorsOf(endpoint: Endpoint<never>): readonly ErrorName[] {
  const names: ErrorName[] = [
    'invalidRequest',
    ...endpoint.errors,
    ...(endpoint.idempotent ? [endpoint.idempotent.conflict] : []),
    ...(endpoint.collection ? (['cursorNotFound', 'cursorNotUuid'] as const) : []),
    ...(endpoint.auth === 'none' || endpoint.auth === 'user'
      ? []
      : (['unauthorized', 'keyWithoutPrefix', 'keyExpired', 'keyElsewhere', 'forbidden'] as const)),
    ...(endpoint.userToken || endpoint.auth === 'user' ? userTokenErrors : []),
    ...(endpoint.raw ? (['requestTimeout', 'payloadTooLarge'] as const) : []),
    ...(endpoint.body ? (['requestTimeout', 'payloadTooLarge', 'unsupportedMediaType'] as const) : []),
    'tooManyRequests',
    'internal',
    'unavailable',
  ]
  return [...new Set(names.map((name) => endpoint.errorsAs?.[name] ?? name))]
}

/** Returns the responses of an operation's errors by status. Those with few errors are shared by all operations. */
export function errorResponses(endpoint: Endpoint<never>, components: Components): Record<number, object> {
  const byStatus = new Map<number, ErrorName[]>()
  for (const name of errorsOf(endpoint)) {
    const { status } = errorKinds[name]
    // An error in the body of a success is part of the schema of the success.
    if (status < 400) continue
    byStatus.set(status, [...(byStatus.get(status) ?? []), name])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => {
      const response = errorResponse(status, names, components)
      return [status, names.length > 2 ? response : refer(components, 'responses', nameOf(names), response)]
    }),
  )
}

const nameOf = (names: readonly ErrorName[]) =>
  names.map((name) => name[0]!.toUpperCase() + name.slice(1)).join('Or')

function errorResponse(status: number, names: readonly ErrorName[], components: Components): object {
  const lines = names.map((name) => `${errorKinds[name].code}: ${errorKinds[name].text}`)
  const isCrowded = status === 429 || status === 503
  return {
    description: lines.join('\n\n'),
    headers: headersOf(['X-Request-Id', ...(isCrowded ? (['Retry-After'] as const) : [])], components),
    content: { 'application/json': { schema: openApiSchema(errorSchema, components) } },
  }
}
