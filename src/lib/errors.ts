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
  /** The `data` of an error of JSON-RPC. */
  readonly data: object | undefined

  constructor(kind: ErrorName, message?: string, fields: FieldError[] = [], data?: object) {
    super(message ?? errorKinds[kind].text)
    this.kind = kind
    this.fields = fields
    this.data = data
  }

  get code(): number {
    return errorKinds[this.kind].code
  }

  get status(): number {
    return errorKinds[this.kind].status
  }
}

/** One bad field of a request. */
type BadField = {
  /** The path of the field: `amounts[0]`. */
  at: string
  /** The rest of a sentence that begins with the path: `must be above zero`. */
  reason: string
  value?: unknown
  kind?: ErrorName | undefined
  error?: FieldErrorName | undefined
}

/** Creates the error for one bad field: `invalid({ at: 'amounts[0]', reason: 'must be above zero', value: '0' })`. */
export function invalid({
  at,
  reason,
  value,
  kind = 'invalidRequest',
  error = 'invalid_value',
}: BadField): ApiError {
  const shown = value === undefined ? undefined : shorten(value)
  const field: FieldError = { error, message: `${at} ${reason}`, location: at, constraints: {} }
  if (shown !== undefined) field.invalidValue = shown
  const { text } = errorKinds[kind]
  const sentence = ended(field.message)
  return new ApiError(kind, repeats(text, sentence) ? sentence : `${text} ${sentence}`, [field])
}

/** Whether the sentence about the field has all words of the text, which would only say the same before it. */
function repeats(text: string, sentence: string): boolean {
  const said = wordsOf(sentence)
  return [...wordsOf(text)].every((word) => said.has(word))
}

/** Words without a meaning of their own in the texts of errors. */
const particles = new Set(
  'a an and are be do does for has have in is it must no not of on one only or that the this to with'.split(
    ' ',
  ),
)

/** Returns the words of a sentence; those of a field's name count one by one. */
const wordsOf = (sentence: string): Set<string> =>
  new Set(
    sentence
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== '' && !particles.has(word)),
  )

/** The same error about a member `at` of the request, for which the error names each field as if it were the whole. */
export function within(at: string, { kind, fields }: ApiError): ApiError {
  const placed = fields.map((field) => {
    const location = field.location === 'body' ? at : `${at}.${field.location}`
    return { ...field, location, message: `${location}${field.message.slice(field.location.length)}` }
  })
  const reasons = placed.map(({ message }) => message).join('; ')
  return new ApiError(kind, `${errorKinds[kind].text} ${ended(reasons)}`, placed)
}

/** Creates the error for an id that matches none of the caller's resources: `notFound('payout', id, 'payoutNotFound')`. */
export const notFound = (noun: string, id: string | undefined, kind: ErrorName, location = 'id'): ApiError =>
  invalid({ at: location, reason: `matches no ${noun} of this entity`, value: id, kind })

/** Adds a full stop to a sentence, unless it is a question: "did you mean BASE?" */
export const ended = (sentence: string) => (sentence.endsWith('?') ? sentence : `${sentence}.`)

/** Shortens a client's value to 200 characters, so that responses show it without echoing megabytes. */
export function shorten(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 200 ? `${value.slice(0, 200)}…` : value
  const text = JSON.stringify(value) ?? 'null'
  return text.length > 200 ? `${text.slice(0, 200)}…` : value
}
