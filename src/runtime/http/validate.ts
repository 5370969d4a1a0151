import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { isDecimal } from '#lib/amounts'
import { type ErrorName, errorKinds } from '#lib/error-kinds'
import { ApiError, ended, type FieldError, type FieldErrorName, shorten } from '#lib/errors'
import { isHex } from '#lib/hex'
import { isUuid } from '#lib/ids'
import { nearest, suggest } from '#lib/suggest'
import { instantRule, parseInstant } from '#lib/time'
import type { Annotated } from './openapi/annotate.ts'

/** Settings under which unknown fields are ignored: they are neither removed nor refused. */
const settings = { allErrors: true, strict: false, removeAdditional: false, verbose: true } as const

const ajv = withFormats(new Ajv(settings))

function withFormats(ajv: Ajv): Ajv {
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', (text) => parseInstant(text) !== undefined)
  ajv.addFormat('decimal', isDecimal)
  ajv.addFormat('hex', (text) => isHex(text))
  return ajv
}

type RequestPart = 'params' | 'query' | 'body'
export type Check = (value: unknown) => void

/**
 * Returns a check of `schema` that throws the documented error naming every bad field. It is compiled on first use: compiling
 * all of them takes longer than the rest of a start. `malformedId` is the product's error for an id in the path that is no
 * UUID.
 */
export function checkOf(
  schema: TSchema,
  part: RequestPart,
  malformedId: ErrorName = 'invalidRequest',
): Check {
  let compiled: ValidateFunction | undefined
  return (value) => {
    compiled ??= ajv.compile(schema)
    if (part !== 'body') readTexts(schema, value as Record<string, unknown>)
    if (!compiled(value)) throw refusal(compiled.errors ?? [], part, malformedId)
  }
}

/**
 * Converts query and path parameters from text in place: "10" to an integer, "true" to a boolean. Ajv's own coercion
 * would also accept " 5", "0x10" and "Infinity".
 */
function readTexts(schema: TSchema, values: Record<string, unknown>): void {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> }
  for (const [name, { type }] of Object.entries(properties)) {
    const text = values[name]
    if (typeof text !== 'string') continue
    if (type === 'boolean' && /^(true|false)$/.test(text)) values[name] = text === 'true'
    const isNumber = type === 'integer' || type === 'number'
    if (isNumber && /^-?\d{1,30}(\.\d{1,30})?$/.test(text)) values[name] = Number(text)
  }
}

/** Compiles a check that a response has the documented shape; for tests. */
export function compileResponse(schema: TSchema): ValidateFunction {
  return ajv.compile(schema)
}

function refusal(errors: ErrorObject[], part: RequestPart, malformedId: ErrorName): ApiError {
  const fields = errors
    .filter((error) => !['anyOf', 'oneOf', 'if', 'allOf'].includes(error.keyword) && !allowsOnlyEmpty(error))
    .slice(0, 20)
  const shown = (fields.length > 0 ? fields : errors.slice(0, 1)).map(fieldErrorOf)
  const badId =
    part === 'params' &&
    errors.find((error) => error.keyword === 'format' && error.params['format'] === 'uuid')
  const kind = badId ? malformedId : (ownKindOf(fields) ?? 'invalidRequest')
  const reasons = shown.map((field) => field.message).join('; ')
  return new ApiError(kind, `${errorKinds[kind].text} ${ended(reasons)}`, shown)
}

/** Whether an error is that of the alternative "empty means absent", of which there is nothing to say. */
const allowsOnlyEmpty = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'enum' && (params['allowedValues'] as unknown[]).every((value) => value === '')

/** The error that a field with a closed set of values names as its own, when nothing else is wrong. */
const ownKindOf = ([error, ...more]: ErrorObject[]): ErrorName | undefined =>
  error?.keyword === 'enum' && more.length === 0
    ? (error.parentSchema as { '~error'?: ErrorName })['~error']
    : undefined

type FieldExplanation = { error: FieldErrorName; reason: string; constraints?: Record<string, unknown> }

function fieldErrorOf(error: ErrorObject): FieldError {
  const { error: name, reason, constraints = {} } = explain(error)
  const location = locationOf(error)
  const field: FieldError = { error: name, message: `${location} ${reason}`, location, constraints }
  const { additionalProperty: unknown } = error.params
  const value = unknown === undefined ? error.data : (error.data as Record<string, unknown>)[unknown]
  if (name !== 'required' && !holdsSecret(error.parentSchema)) field.invalidValue = shorten(value)
  return field
}

/** Whether a schema is that of a secret field, or of an object with one. */
function holdsSecret(schema: Annotated | undefined): boolean {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Annotated> }
  return schema?.['~secret'] === true || Object.values(properties).some(holdsSecret)
}

function explain(error: ErrorObject): FieldExplanation {
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required':
      return { error: 'required', reason: `is missing: send ${onlyValueOf(error) ?? 'it'}${misspelt(error)}` }
    case 'minimum':
    case 'exclusiveMinimum':
      return {
        error: 'min_value',
        reason: `must be at least ${params['limit']}`,
        constraints: { min: params['limit'] },
      }
    case 'maximum':
    case 'exclusiveMaximum':
      return {
        error: 'max_value',
        reason: `must be at most ${params['limit']}`,
        constraints: { max: params['limit'] },
      }
    case 'minLength':
    case 'maxLength':
      return explainLength(error)
    case 'pattern':
      return {
        error: 'pattern_mismatch',
        reason: `must match ${params['pattern']}${remedyIn(error)}`,
        constraints: { pattern: params['pattern'] },
      }
    case 'format':
      return {
        error: 'pattern_mismatch',
        reason: formatReasons[String(params['format'])] ?? `must be a ${params['format']}`,
      }
    case 'enum':
      return {
        error: 'invalid_value',
        reason: `${choiceOf(recommendedIn(error) ?? (params['allowedValues'] as unknown[]), error.data)}${remedyIn(error)}`,
      }
    case 'additionalProperties':
      return { error: 'not_required', reason: `is not a known field${knownFields(error)}` }
    case 'const':
      return { error: 'invalid_value', reason: `must be ${JSON.stringify(params['allowedValue'])}` }
    case 'type':
      return { error: 'invalid_value', reason: `must be of type ${params['type']}` }
    case 'minItems':
    case 'maxItems':
      return {
        error: 'length_outside_bounds',
        reason: `must have ${error.keyword === 'minItems' ? 'at least' : 'at most'} ${params['limit']} item${params['limit'] === 1 ? '' : 's'}`,
      }
    default:
      return { error: 'invalid_value', reason: error.message ?? 'is invalid' }
  }
}

/** The values that an error recommends, where some that the schema allows are refused later. */
const recommendedIn = ({ parentSchema }: ErrorObject) =>
  (parentSchema as { '~recommended'?: unknown[] })['~recommended']

/** The remedy that a schema names for its field. */
const remedyIn = ({ parentSchema }: ErrorObject): string => {
  const { '~remedy': remedy } = parentSchema as Annotated
  return remedy === undefined ? '' : `: ${remedy}`
}

const choiceOf = (allowed: unknown[], given: unknown): string =>
  allowed.length === 1
    ? `must be ${allowed[0]}`
    : `must be one of ${allowed.join(', ')}${suggest(given, allowed)}`

/** The value of a missing field that can have only one, as in JSON. */
function onlyValueOf({ parentSchema, params }: ErrorObject): string | undefined {
  const { properties = {} } = parentSchema as { properties?: Record<string, { const?: unknown }> }
  const only = properties[String(params['missingProperty'])]?.const
  return only === undefined ? undefined : JSON.stringify(only)
}

/** Names the unknown field that probably stands for the missing one. */
function misspelt({ data, parentSchema, params }: ErrorObject): string {
  const { properties = {} } = parentSchema as { properties?: object }
  const unknown = Object.keys(data as object).filter((name) => !Object.hasOwn(properties, name))
  const near = nearest(String(params['missingProperty']), unknown)
  return near === undefined ? '' : `; ${near} is not a field of this operation`
}

/** The field that an unknown one probably stands for, or else all fields, where they are few. */
function knownFields({ params, parentSchema }: ErrorObject): string {
  const names = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {})
  const near = suggest(params['additionalProperty'], names)
  return near || names.length === 0 || names.length > 8 ? near : `: send ${names.join(', ')}`
}

const formatReasons: Record<string, string> = {
  uuid: 'must be a UUID',
  'date-time': instantRule,
  decimal: 'must be a decimal number as a string, such as "12.50"',
  hex: 'must be 0x and an even number of hexadecimal digits',
}

function explainLength(error: ErrorObject): FieldExplanation {
  const schema = error.parentSchema as { minLength?: number; maxLength?: number }
  const min = schema.minLength ?? 0
  const { maxLength: max } = schema
  const reason =
    max === undefined
      ? `must have at least ${min} character${min === 1 ? '' : 's'}`
      : `must have ${min} to ${max} characters`
  return { error: 'length_outside_bounds', reason, constraints: max === undefined ? { min } : { min, max } }
}

/** Returns the location of an error: "/amounts/0" and a missing "id" become "amounts[0].id". */
function locationOf(error: ErrorObject): string {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const params = error.params as Record<string, unknown>
  if (error.keyword === 'required') path.push(String(params['missingProperty']))
  if (error.keyword === 'additionalProperties') path.push(String(params['additionalProperty']))
  const text = path.reduce(
    (built, step) => (/^\d+$/.test(step) ? `${built}[${step}]` : built ? `${built}.${step}` : step),
    '',
  )
  return text === '' ? 'body' : text
}
