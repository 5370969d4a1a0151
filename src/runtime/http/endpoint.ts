import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorName } from '#lib/error-kinds'
import type { Page } from '#runtime/collection/page'
import type { Collection, PageQuery } from '#runtime/collection/query'
import type { RequestScope } from '#runtime/scope'

/** What a verb receives: every part has passed its schema. */
export type Input<Params, Query, Body> = { params: Params; query: Query; body: Body; page: PageQuery }

type Part<Schema> = Schema extends TSchema ? Static<Schema> : Record<string, never>

/**
 * One operation of the interface, declared: the only things a route file holds.
 * A verb is `(ctx, input, prepared) => result`; it knows nothing of HTTP.
 */
export type Endpoint<Ctx = RequestScope> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{name}` for parameters, as the interface documents it. */
  path: string
  operationId: string
  summary: string
  tag: string
  /**
   * Who may ask: `none` is for the few routes that answer anybody, `apiKey` takes the keys of customers, and the operator's
   * scopes those that were made for them.
   */
  auth: 'apiKey' | 'operator:read' | 'operator:write' | 'none'
  /** Whether X-User-Token makes the request that user's. No version issues such tokens yet, so each is unknown. */
  takesUserToken?: boolean
  params?: TObject | undefined
  query?: TObject | undefined
  body?: TObject | undefined
  /** Whether the body may be as large as the server takes at all, for call data and documents; others end at 64 KiB. */
  largeBody?: boolean
  /** The shape inside `data`; absent when the answer has no body. */
  response?: TSchema | undefined
  /** The status of a first success. Default 200. */
  status?: 200 | 201 | 204
  /** A second status whose answer has the shape of a success: that of a probe which tells what is wrong. */
  troubleStatus?: 503
  /** False for the few answers that are not wrapped in `data`. */
  enveloped?: boolean
  /** Present on every list: which shared parameters it takes. `items` is where the page stands in `data`. */
  collection?: Collection & { items?: string }
  /** Present when the body carries `idempotencyKey`. `status` of the conflict differs between product lines. */
  idempotent?: Idempotent<Ctx>
  /**
   * Whether it changes something, and so runs in a `tx`; default: all but GET. A GET that does, such as a link in a message, is
   * not done by HEAD. A POST that only asks holds no connection of the database while it waits for a node.
   */
  changing?: boolean
  /** The media type of an answer that is text, not JSON. */
  media?: string
  errors: readonly ErrorName[]
  /** Work that must not hold a database transaction, such as decrypting; its result goes to the verb. */
  prepare?: (ctx: Ctx, input: Input<never, never, never>) => Promise<unknown>
  verb: (ctx: Ctx, input: Input<never, never, never>, prepared: never) => Promise<unknown>
}

export const isChanging = ({ changing, method }: Endpoint<never>): boolean => changing ?? method !== 'GET'

/** How a repeated request finds what the first one made: it answers with the resource as it is now. */
export type Idempotent<Ctx> = {
  conflict: ErrorName
  /** Whose keys these are: operations of one name take a key once between them. Default: the `operationId`. */
  operation?: string
  /** The status of a replay, which differs between product lines. Default 200. */
  replayStatus?: 200 | 201
  resourceIdOf: (result: never) => string
  reload: (ctx: Ctx, resourceId: string) => Promise<unknown>
}

type Typed<Ctx, Params, Query, Body, Prepared> = Omit<
  Endpoint<Ctx>,
  'params' | 'query' | 'body' | 'prepare' | 'verb'
> & {
  params?: Params
  query?: Query
  body?: Body
  prepare?: (ctx: Ctx, input: Input<Part<Params>, Part<Query>, Part<Body>>) => Promise<Prepared>
  verb: (
    ctx: Ctx,
    input: Input<Part<Params>, Part<Query>, Part<Body>>,
    prepared: Prepared,
  ) => Promise<unknown>
}

/** Declares an operation so that the verb's input has the types of its schemas. */
export function endpoint<
  Ctx extends RequestScope,
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TObject | undefined = undefined,
  Prepared = undefined,
>(definition: Typed<Ctx, Params, Query, Body, Prepared>): Endpoint<Ctx> {
  return definition as unknown as Endpoint<Ctx>
}

/**
 * What a list verb answers: the page, and how a row is shown.
 * The route wraps the items and writes the Link header.
 */
export type ListResult<Row extends { id: string } = { id: string }> = {
  found: Page<Row>
  items: unknown[]
  /** Further members beside the items, such as the scope of the monitored tokens. */
  extra?: Record<string, unknown>
}

/** An answer whose status is not the declared one, such as 200 for "already there" where 201 is "made". */
export type Answer = { status: number; data: unknown }
const answers = new WeakSet<object>()

export function answer(status: number, data: unknown): Answer {
  const made = { status, data }
  answers.add(made)
  return made
}

export const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && answers.has(value)
