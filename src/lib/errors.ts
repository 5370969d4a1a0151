import { type ErrorName, errorKinds } from './error-kinds.ts'

/** One reason why one field of a request was refused, in the documented shape of `errors[]`. */
export type FieldError = {
  error: FieldErrorName
  message: string
  location: string
  invalidValue?: unknown
  constraints?: Record<string, unknown>
}

export type FieldErrorName =
  | 'required'
  | 'not_required'
  | 'invalid_value'
  | 'min_value'
  | 'max_value'
  | 'length_outside_bounds'
  | 'pattern_mismatch'
  | 'number_format'
  | 'date_not_in_past'
  | 'date_not_in_future'
  | 'value_must_be_true'
  | 'value_must_be_false'

/** An error response: a name from the closed vocabulary, and a text that names the field, the reason and the remedy. */
export class ApiError extends Error {
  readonly kind: ErrorName
  readonly fields: FieldError[]

  constructor(kind: ErrorName, message?: string, fields: FieldError[] = []) {
    super(message ?? errorKinds[kind].text)
    this.kind = kind
    this.fields = fields
  }

  get code(): number {
    return errorKinds[this.kind].code
  }

  get status(): number {
    return errorKinds[this.kind].status
  }
}

/** Creates the error for one bad field: `invalid('amounts[0]', 'must be above zero', '0')`. */
export function invalid(
  location: string,
  reason: string,
  invalidValue?: unknown,
  kind: ErrorName = 'invalidRequest',
  error: FieldErrorName = 'invalid_value',
): ApiError {
  const shown = invalidValue === undefined ? undefined : shorten(invalidValue)
  const field: FieldError = { error, message: `${location} ${reason}`, location, constraints: {} }
  if (shown !== undefined) field.invalidValue = shown
  return new ApiError(kind, `${errorKinds[kind].text} ${ended(field.message)}`, [field])
}

/** Creates the error for an id that matches none of the caller's resources: `notFound('payout', id, 'payoutNotFound')`. */
export const notFound = (noun: string, id: string | undefined, kind: ErrorName, location = 'id'): ApiError =>
  invalid(location, `matches no ${noun} of this entity`, id, kind)

/** Adds a full stop to a sentence, unless it is a question: "did you mean BASE?" */
export const ended = (sentence: string) => (sentence.endsWith('?') ? sentence : `${sentence}.`)

/** Shortens a client's value to 200 characters, so that responses show it without echoing megabytes. */
export function shorten(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 200 ? `${value.slice(0, 200)}…` : value
  const text = JSON.stringify(value) ?? 'null'
  return text.length > 200 ? `${text.slice(0, 200)}…` : value
}
