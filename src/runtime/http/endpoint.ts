import type { Static, TArray, TObject, TSchema } from 'typebox'
import type { ErrorName } from '#lib/error-kinds'
import type { ApiError } from '#lib/errors'
import type { Page } from '#runtime/collection/page'
import type { Collection, PageQuery } from '#runtime/collection/query'
import type { RequestScope } from '#runtime/scope'

/** A request as it arrived, for operations that take anything. */
export type Arrived = {
  method: string
  path: string
  /** The text after the question mark; empty without one. */
  query: string
  /** Names and values in turn, as the client wrote them. */
  rawHeaders: readonly string[]
  bytes: Buffer
}

/** The input of a verb: every part has passed its schema. `arrived` belongs to raw operations and streams, `page` to lists. */
export type Input<Params, Query, Body> = {
  params: Params
  query: Query
  body: Body
  page: PageQuery
  arrived: Arrived
}

type Validated<Schema> = Schema extends TSchema ? Static<Schema> : Record<string, never>

/**
 * The declaration of one operation; route files contain nothing else.
 * A verb is `(ctx, input, prepared) => result`; it is independent of HTTP.
 */
export type Endpoint<Ctx = RequestScope> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The documented path, with `{name}` for parameters. */
  path: string
  operationId: string
  /** A few words, beginning with a verb. */
  summary: string
  /** The meaning and the rules of the operation, as Markdown. */
  description: string
  tag: string
  /**
   * The required authorization: `none` for the few public routes, `apiKey` for keys of customers, `clientKey` for those that
   * their pages hold, `user` for the token of a user alone, `member` for the session of the console, and the operator scopes for
   * keys created with them and members whose role has them.
   */
  auth: 'apiKey' | 'clientKey' | 'user' | 'member' | 'operator:read' | 'operator:write' | 'none'
  /** Whether the request acts for a user by X-User-Token: always, or when it sends one. Absent: the header is ignored. */
  userToken?: 'required' | 'optional'
  params?: TObject | undefined
  query?: TObject | undefined
  /** An object, or a list where the documented interface has one. */
  body?: TObject | TArray | undefined
  /** Whether the body may be as large as the server's limit, for call data and documents; others are limited to 64 KiB. */
  largeBody?: boolean
  /**
   * Whether the request is taken as it arrived: any media type and query, with the bytes of its body, of up to a megabyte. Its
   * response may be silent for a minute.
   */
  raw?: boolean
  /** The most bytes of a raw body, where that is not a megabyte. */
  rawBytesMax?: number
  /** The schema of `data`; absent when the response has no body. */
  response?: TSchema | undefined
  /** The status of a first success. Default 200. */
  status?: 200 | 201 | 202 | 204
  /** Further statuses of a success, each with its meaning; 204 has no body. */
  alternatives?: { 200?: string; 204?: string }
  /** A second status whose response has the shape of a success: that of a probe which reports a problem. */
  troubleStatus?: 503
  /** False for the few responses that are not wrapped in `data`. */
  enveloped?: boolean
  /** Present on every list: its shared parameters. `items` names the member of `data` that holds the page. */
  collection?: Collection & { items?: string }
  /** Present when the body carries `idempotencyKey`. `status` of the conflict differs between product lines. */
  idempotent?: Idempotent<Ctx>
  /** Present when pending work can overturn some refusals of this operation. */
  provisional?: Provisional<Ctx>
  /**
   * Whether the operation writes, and so runs in a `tx`; default: all but GET. A GET that writes, such as a link in a
   * message, has no HEAD route. A POST that only reads holds no database connection while it waits for a node.
   */
  changing?: boolean
  /** Whether an operation without a `tx` acts all the same, by steps with a `tx` of their own. */
  acts?: true
  /** Shows a refused request in a protocol whose errors are successes of HTTP; `undefined` leaves it to HTTP. */
  showError?: (error: ApiError, body: unknown) => object | undefined
  /** Whether refusals carry their text as `error`, and the word it begins with as `errorCode`, as clients of this interface read them. */
  errorText?: boolean
  /** The media type of a response that is text, not JSON. */
  media?: string
  /**
   * Whether the verb returns a `Readable`, or an answer with one and all its headers, that is sent as long as the client reads; `arrived`
   * has the headers of the request.
   */
  streams?: boolean
  /** The errors of the operation's own rules; `errorsOf` adds those that every request can meet. */
  errors: readonly ErrorName[]
  /** The errors that the product line of this operation reports under codes of its own. */
  errorsAs?: Partial<Record<ErrorName, ErrorName>>
  /** Work that must not hold a database transaction, such as decrypting; its result is passed to the verb. */
  prepare?: (ctx: Ctx, input: Input<never, never, never>) => Promise<unknown>
  verb: (ctx: Ctx, input: Input<never, never, never>, prepared: never) => Promise<unknown>
}

export const isChanging = ({ changing, method }: Endpoint<never>): boolean => changing ?? method !== 'GET'

/** Whether the operation is closed to those who may read alone. */
export const mayAct = (endpoint: Endpoint<never>): boolean => endpoint.acts ?? isChanging(endpoint)

/**
 * Whether a replica of the database may serve the operation: lists and single reads of callers with a key or a session. Streams wait
 * for what happens later than the request.
 */
export const mayReadReplica = (endpoint: Endpoint<never>): boolean =>
  endpoint.method === 'GET' &&
  !mayAct(endpoint) &&
  !endpoint.streams &&
  (endpoint.auth === 'apiKey' || endpoint.auth === 'operator:read')

/** Replay of a repeated request: it answers with the current state of the resource that the first one created. */
export type Idempotent<Ctx> = {
  conflict: ErrorName
  /** The scope of the keys: operations with the same name accept a key only once in total. Default: the `operationId`. */
  operation?: string
  /** The status of a replay, which differs between product lines. Default 200. */
  replayStatus?: 200 | 201
  /** The error of a replay whose answer has expired with the tokens in it; absent where answers last. */
  expired?: ErrorName
  resourceIdOf: (result: never) => string
  /** Fields of the body whose digest must not be stored, because few values are possible: `reload` compares them. */
  secretFields?: readonly string[]
  /** `input` is that of the repeated request, equal to that of the first one but for secret fields. */
  reload: (ctx: Ctx, resourceId: string, input: never) => Promise<unknown>
}

/** Refusals that pending work can overturn: the request waits without a `tx` until it is settled, and is decided again. */
export type Provisional<Ctx> = {
  errors: readonly ErrorName[]
  /** Begins the settlement of a refused request, outside its `tx`; resolves to a check whether it is complete. */
  settlement: (ctx: Ctx, input: Input<never, never, never>) => Promise<() => Promise<boolean>>
}

type Typed<Ctx, Params, Query, Body, Prepared> = Omit<
  Endpoint<Ctx>,
  'params' | 'query' | 'body' | 'prepare' | 'verb'
> & {
  params?: Params
  query?: Query
  body?: Body
  prepare?: (
    ctx: Ctx,
    input: Input<Validated<Params>, Validated<Query>, Validated<Body>>,
  ) => Promise<Prepared>
  verb: (
    ctx: Ctx,
    input: Input<Validated<Params>, Validated<Query>, Validated<Body>>,
    prepared: Prepared,
  ) => Promise<unknown>
}

/** Declares an operation so that the verb's input has the types of its schemas. */
export function endpoint<
  Ctx extends RequestScope,
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TObject | TArray | undefined = undefined,
  Prepared = undefined,
>(definition: Typed<Ctx, Params, Query, Body, Prepared>): Endpoint<Ctx> {
  return definition as unknown as Endpoint<Ctx>
}

/**
 * The result of a list verb: the page and its items as shown.
 * The route wraps the items and writes the Link header.
 */
export type ListResult<Row extends { id: string } = { id: string }> = {
  found: Page<Row>
  items: unknown[]
  /** Further members beside the items, such as the scope of the monitored tokens. */
  extra?: Record<string, unknown>
  /** The page that was read, where a list that waited for items ends later than the time of the request. */
  page?: PageQuery
}

/** A response with another status than the declared one, such as 200 for "already exists" where 201 is "created". */
export type Answer = { status: number; data: unknown; headers?: Readonly<Record<string, string>> | undefined }
const answers = new WeakSet<object>()

/** With `headers`, a text is answered with these and none of the server's own, as another program has answered; JSON with these besides. */
export function answer(status: number, data: unknown, headers?: Answer['headers']): Answer {
  const made = { status, data, headers }
  answers.add(made)
  return made
}

export const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && answers.has(value)
