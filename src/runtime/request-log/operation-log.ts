import type { TSchema } from 'typebox'
import { errorKinds } from '#lib/error-kinds'
import { isUuid } from '#lib/ids'
import { type Keeper, keeperOf, redacted } from './keeper.ts'

/** The schemas of one operation. */
type LoggedSchemas = {
  /** The documented path, with `{name}` for parameters. */
  route: string
  params?: TSchema | undefined
  query?: TSchema | undefined
  body?: TSchema | undefined
  answer?: TSchema | undefined
}

/** Shows the parts of requests of one operation, and of their answers, that the log may keep. */
export type OperationLog = {
  route: string
  pathOf(params: unknown, query: unknown): string
  bodyOf(body: unknown): unknown
  answerOf(status: number, answer: unknown): unknown
}

const nothing: Keeper = () => undefined
const keeperFor = (schema: TSchema | undefined, side: 'request' | 'answer') =>
  schema ? keeperOf(schema, side) : nothing

export function openOperationLog({ route, params, query, body, answer }: LoggedSchemas): OperationLog {
  const keepParams = keeperFor(params, 'request')
  const keepQuery = keeperFor(query, 'request')
  const keepAnswer = keeperFor(answer, 'answer')
  const names = new Set([params, query, body].flatMap((schema) => (schema ? namesIn(schema) : [])))
  return {
    route,
    pathOf: (givenParams, givenQuery) => {
      const kept = (keepParams(givenParams) ?? {}) as Record<string, unknown>
      const path = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => textOf(kept[name] ?? redacted))
      return path + searchOf(keepQuery(givenQuery))
    },
    bodyOf: keeperFor(body, 'request'),
    answerOf: (status, given) => (status >= 400 ? refusalOf(given, names) : keepAnswer(given)),
  }
}

function searchOf(kept: unknown): string {
  const parts = Object.entries(kept ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => `${name}=${textOf(each)}`),
  )
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

const textOf = (value: unknown) => (value === redacted ? redacted : encodeURIComponent(String(value)))

/** The names of all fields of a schema. */
function namesIn(schema: TSchema): string[] {
  const {
    properties = {},
    items,
    anyOf = [],
    oneOf = [],
    allOf = [],
  } = schema as {
    properties?: Record<string, TSchema>
    items?: TSchema
    anyOf?: TSchema[]
    oneOf?: TSchema[]
    allOf?: TSchema[]
  }
  const parts = [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...oneOf, ...allOf]
  return [...Object.keys(properties), ...parts.flatMap(namesIn)]
}

const texts = Object.values(errorKinds).map(({ text }) => text)
const fieldErrorName = /^[a-z_]{1,40}$/

/**
 * A refusal without what it repeats of the request: its code, the beginning of its message that is the documented text, and the kind
 * and the place of each wrong field, if the operation knows its name.
 */
function refusalOf(given: unknown, names: ReadonlySet<string>): unknown {
  if (typeof given !== 'object' || given === null) return undefined
  const { code, message, errors } = given as { code?: unknown; message?: unknown; errors?: unknown }
  return {
    ...(Number.isSafeInteger(code) && { code }),
    ...(typeof message === 'string' && { message: knownTextIn(message) }),
    ...(Array.isArray(errors) && {
      errors: errors.map(({ error, location }) => ({
        error: fieldErrorName.test(String(error)) ? error : redacted,
        location: isKnownPlace(String(location), names) ? location : redacted,
      })),
    }),
  }
}

const knownTextIn = (message: string) => texts.find((text) => message.startsWith(text)) ?? redacted

const isKnownPlace = (location: string, names: ReadonlySet<string>) =>
  location.split('.').every((step) => {
    const name = step.replace(/(\[\d{1,5}\])*$/, '')
    return name === '' || name === 'body' || name === 'path' || names.has(name)
  })

/** The id of the resource that an answer names: that of `data`, or of the one object in it, or the one id that it has. */
export function resourceIdIn(answer: unknown): string | null {
  const data = membersOf(membersOf(answer)?.['data']) ?? membersOf(answer)
  if (!data) return null
  if (isUuid(data['id'])) return data['id'].toLowerCase()
  const [only, ...others] = Object.entries(data)
  if (!only || others.length > 0) return null
  const [name, value] = only
  if (/Id$/.test(name) && isUuid(value)) return value.toLowerCase()
  const id = membersOf(value)?.['id']
  return isUuid(id) ? id.toLowerCase() : null
}

const membersOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
