import type { Readable } from 'node:stream'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorKinds } from '#lib/error-kinds'
import { ApiError, invalid } from '#lib/errors'
import { linkHeader } from '#runtime/collection/link'
import { endNameOf, type PageQuery, parsePageQuery } from '#runtime/collection/query'
import type { Config } from '#runtime/config'
import type { Caller, RequestScope, Scope, TokenUser } from '#runtime/scope'
import { type CallerOf, requireUserToken } from './admission.ts'
import { apiErrorOf } from './api-error.ts'
import { rawBodyBytesMax, usualBodyBytesMax } from './body.ts'
import { checkBounds } from './bounds.ts'
import {
  type Answer,
  type Arrived,
  type Endpoint,
  isAnswer,
  type ListResult,
  mayAct,
  mayReadReplica,
} from './endpoint.ts'
import { type EventStreams, streamMs } from './event-streams.ts'
import type { InterceptRequest } from './intercept.ts'
import { invoke } from './invoke.ts'
import { isLogged } from './log-requests.ts'
import { readMembers } from './read-members.ts'
import { readQuery } from './read-query.ts'
import { bodySchema, isListBody, pathsOf, querySchema } from './schemas.ts'
import { type Check, checkOf } from './validate.ts'

type Registration = {
  scope: Scope
  streams: EventStreams
  callerOf: CallerOf
  widen: (ctx: RequestScope) => RequestScope
  /** Returns the user of a token; throws the documented error of one that is not valid. */
  readUser?: ReadUser | undefined
  /** Returns the entity and the user of a token, where no key names the entity. */
  readSession?: ReadSession | undefined
  /** Meets every request before its operation runs; of a sandbox. */
  intercept?: InterceptRequest | undefined
  /** Returns why the process cannot serve, if so: requests that need a key are then answered with 503. */
  notReady?: () => string | undefined
  around?: AroundRequests | undefined
}

/** Runs the work of each request, from its context to its answer: it may let it wait, or refuse it by throwing. */
export type AroundRequests = <Result>(
  endpoint: Endpoint<never>,
  work: () => Promise<Result>,
) => Promise<Result>

const atOnce: AroundRequests = (_, work) => work()

export type ReadUser = (ctx: RequestScope, token: string) => Promise<TokenUser>
export type ReadSession = (
  ctx: RequestScope,
  token: string,
) => Promise<{ entity: Caller['entity']; user: TokenUser }>

/** Registers one operation under its documented path and its aliases. Without `auth: 'none'` it denies by default. */
export function registerEndpoint(
  server: FastifyInstance,
  registration: Registration,
  endpoint: Endpoint<never>,
): void {
  const handler = handlerOf(registration, endpoint)
  const bodyBytesMax = bodyBytesMaxOf(endpoint, registration.scope.config)
  const route = {
    method: endpoint.method,
    handler,
    config: {
      auth: endpoint.auth,
      isChanging: mayAct(endpoint),
      ...(bodyBytesMax && { bodyBytesMax }),
      ...(endpoint.raw && { isRaw: true }),
      ...(endpoint.errorText && { errorText: true }),
      ...(isLogged(endpoint) && { logged: endpoint }),
    },
    ...(endpoint.raw && { onRequest: takeAnyMedia }),
    ...((endpoint.changing || endpoint.streams) && { exposeHeadRoute: false }),
    ...(endpoint.showError && { errorHandler: errorHandlerOf(endpoint.showError) }),
  }
  for (const url of pathsOf(endpoint.path)) server.route({ ...route, url })
}

/** The server refuses a media type that has no valid form, before the body is read. `rawHeaders` keeps what the client wrote. */
async function takeAnyMedia({ headers }: FastifyRequest): Promise<void> {
  if (headers['content-type'] !== undefined) headers['content-type'] = 'application/octet-stream'
}

/** Answers the errors that the endpoint shows itself. Any other goes on to the handler of the server. */
const errorHandlerOf =
  (show: NonNullable<Endpoint['showError']>) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const shown = show(apiErrorOf(error), request.body)
    if (!shown) throw error
    return reply.status(200).send(shown)
  }

function bodyBytesMaxOf(
  { body, largeBody, raw, rawBytesMax }: Endpoint<never>,
  config: Config,
): number | undefined {
  if (rawBytesMax !== undefined) return rawBytesMax
  if (raw) return Math.min(rawBodyBytesMax, config.bodyBytesMax)
  if (!body) return undefined
  return largeBody ? config.bodyBytesMax : Math.min(usualBodyBytesMax, config.bodyBytesMax)
}

/** Whether the endpoint belongs to the wallets, which have their own error codes; the business account has general ones. */
const isOfWallets = ({ path }: Endpoint<never>) => path.startsWith('/v1/w3s/')

function handlerOf(registration: Registration, endpoint: Endpoint<never>) {
  const { notReady, around = atOnce } = registration
  const params =
    endpoint.params &&
    checkOf(endpoint.params, 'params', isOfWallets(endpoint) ? 'idNotUuid' : 'invalidRequest')
  const querying = querySchema(endpoint)
  const query = querying && checkOf(querying, 'query')
  const bodied = bodySchema(endpoint)
  const body = bodied && checkOf(bodied, 'body')
  const respond = async (request: FastifyRequest, reply: FastifyReply) => {
    const trouble = endpoint.auth === 'none' ? undefined : notReady?.()
    if (trouble !== undefined) throw new ApiError('unavailable', trouble)
    const ctx = await contextOf(registration, endpoint, request)
    const { replicas } = registration.scope
    if (replicas && mayReadReplica(endpoint)) ctx.db = replicas.readingFor(ctx.entity.id, ctx.db)
    const input = parse({ params, query, body }, endpoint, request, ctx.receivedMs)
    if (endpoint.streams) {
      const make = async () => {
        const { result } = await invoke(endpoint, ctx, input)
        return isAnswer(result)
          ? { stream: result.data as Readable, headers: result.headers }
          : { stream: result as Readable }
      }
      const isAdmitted = endpoint.auth !== 'none'
      const { stream, headers } = await registration.streams.open(ctx.actor, reply.raw, make, { isAdmitted })
      if (headers) return reply.headers(headers).send(stream)
      return send(reply, endpoint, ctx, request, input.page, stream, false)
    }
    const run = () => invoke(endpoint, ctx, input)
    const { intercept } = registration
    const outcome = intercept
      ? await intercept({ ...endpoint, ctx, body: input.body, reply }, run)
      : await run()
    if (!outcome) return reply
    const { result, replayed } = outcome
    if (request.noted) request.noted.replayed = replayed
    return send(reply, endpoint, ctx, request, input.page, result, replayed)
  }
  return (request: FastifyRequest, reply: FastifyReply) =>
    around(endpoint, () => respond(request, reply)).catch((error) => {
      throw inOwnCodes(endpoint, error)
    })
}

/** The scope of a request: its caller is named by a key, or by the token of a user. */
async function contextOf(
  { scope, callerOf, widen, readUser, readSession }: Registration,
  { auth, userToken }: Endpoint<never>,
  request: FastifyRequest,
): Promise<RequestScope> {
  const receivedMs = scope.clock.nowMs()
  const scopeOf = (caller: Omit<Caller, 'requestId'>) =>
    widen({
      ...scope,
      ...caller,
      database: scope.database.onBehalfOf(caller.entity.id),
      db: scope.database.readingFor(caller.entity.id),
      requestId: request.id,
      ...(isPublic(auth) && { page: normalizeIP(request.ip) }),
      tool: toolIn(request),
      receivedMs,
      isWaitedFor: () => request.raw.socket?.destroyed !== true,
      afterRollback: [],
      afterCommit: [],
    })
  const token = request.headers['x-user-token']
  if (auth === 'user') {
    const { entity, user } = await readSession!(scopeOf(anonymous), requireUserToken(token))
    const actor = `user:${user.id}`
    if (request.noted) request.noted.caller = { entityId: entity.id, actor }
    return Object.assign(scopeOf({ entity, actor }), { user })
  }
  const ctx = scopeOf(auth === 'none' ? anonymous : callerOf(request))
  if (!userToken || (userToken === 'optional' && token === undefined)) return ctx
  return Object.assign(ctx, { user: await readUser!(ctx, requireUserToken(token)) })
}

/** The name in X-Bezant-Tool, for the audit trail alone: it opens nothing. */
function toolIn({ headers }: FastifyRequest): string | undefined {
  const name = headers['x-bezant-tool']
  return typeof name === 'string' && /^[a-z][a-z_]{0,49}$/.test(name) ? name : undefined
}

/** Whether every visitor of a page can send such a request: the key is in pages, or there is none. */
const isPublic = (auth: Endpoint['auth']) => auth === 'clientKey' || auth === 'user' || auth === 'none'

/** The same error under the code of the endpoint's product line. */
function inOwnCodes({ errorsAs }: Endpoint<never>, error: unknown): unknown {
  const own = error instanceof ApiError ? errorsAs?.[error.kind] : undefined
  if (!own || !(error instanceof ApiError)) return error
  return new ApiError(
    own,
    error.message.replace(errorKinds[error.kind].text, errorKinds[own].text),
    error.fields,
  )
}

const anonymous = { entity: { id: '', environment: 'TEST', appId: '' }, actor: 'anybody' } as const

type Checks = { params?: Check | undefined; query?: Check | undefined; body?: Check | undefined }

/** The silence that a connection may keep while a raw operation waits with its response. */
const rawSilenceMaxMs = 90_000

function arrivedOf({ method, url, raw, body }: FastifyRequest, silenceMaxMs: number): Arrived {
  raw.setTimeout(silenceMaxMs)
  const [path = '', ...query] = url.split('?')
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  return { method, path, query: query.join('?'), rawHeaders: raw.rawHeaders, bytes }
}

const absent = undefined as never

function parse(checks: Checks, endpoint: Endpoint<never>, request: FastifyRequest, receivedMs: number) {
  const params = { ...(request.params as Record<string, unknown>) }
  if (endpoint.raw) {
    checkBounds(params, 'path')
    checks.params?.(params)
    return { params, query: {}, body: {}, page: absent, arrived: arrivedOf(request, rawSilenceMaxMs) }
  }
  const given = endpoint.body ? (request.body ?? {}) : {}
  checkBounds(params, 'path')
  checkBounds(request.query, 'query')
  checkBounds(given, 'body')
  const query = readQuery(endpoint, request.query as Record<string, unknown>)
  // A protocol inside HTTP has names and nulls of its own.
  const schema = endpoint.showError ? undefined : bodySchema(endpoint)
  const body = schema ? readMembers(schema, given) : given
  checks.params?.(params)
  checks.query?.(query)
  const isList = endpoint.body !== undefined && isListBody(endpoint.body)
  if (typeof body !== 'object' || (Array.isArray(body) && !isList))
    throw invalid({ at: 'body', reason: 'must be a JSON object', value: body })
  checks.body?.(body)
  const page = endpoint.collection
    ? parsePageQuery(endpoint.collection, query, receivedMs)
    : (absent as PageQuery)
  const arrived = endpoint.streams ? arrivedOf(request, streamMs) : absent
  return { params, query, body: body as Record<string, unknown>, page, arrived }
}

function send(
  reply: FastifyReply,
  endpoint: Endpoint<never>,
  ctx: RequestScope,
  request: FastifyRequest,
  page: PageQuery,
  result: unknown,
  replayed: boolean,
) {
  const declared = endpoint.status ?? 200
  if (endpoint.media && isAnswer(result)) return sendText(reply, endpoint.media, result)
  if (endpoint.media) return reply.status(declared).type(endpoint.media).send(result)
  if (isAnswer(result))
    return reply
      .status(result.status)
      .headers(result.headers ?? {})
      .send(wrap(endpoint, result.data))
  if (endpoint.collection) return sendList(reply, endpoint, ctx, request, page, result as ListResult)
  if (declared === 204) return reply.status(204).send()
  const status = replayed ? (endpoint.idempotent?.replayStatus ?? 200) : declared
  return reply.status(status).send(wrap(endpoint, result))
}

const bodilessStatuses = [204, 205, 304]

function sendText(reply: FastifyReply, media: string, { status, data, headers }: Answer) {
  if (headers) {
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
    // Fastify names the media type of a text itself where none is named.
    if (!bodilessStatuses.includes(status)) reply.type(media)
    return reply
      .status(status)
      .headers(headers)
      .send(bodilessStatuses.includes(status) ? undefined : data)
  }
  if (bodilessStatuses.includes(status)) return reply.status(status).send()
  return reply.status(status).type(media).send(data)
}

const wrap = (endpoint: Endpoint<never>, data: unknown) =>
  data === undefined ? undefined : endpoint.enveloped === false ? data : { data }

function sendList(
  reply: FastifyReply,
  endpoint: Endpoint<never>,
  ctx: RequestScope,
  request: FastifyRequest,
  asked: PageQuery,
  { found, items, extra, page = asked }: ListResult,
) {
  const path = request.url.split('?')[0]!
  const known = querySchema(endpoint)?.properties ?? {}
  const given = Object.entries(request.query as Record<string, unknown>)
  const query = Object.fromEntries(given.filter(([name]) => Object.hasOwn(known, name)))
  const endName = endNameOf(endpoint.collection!)
  const link = linkHeader({ baseUrl: ctx.config.publicUrl ?? '', path, query, page, endName, found })
  const name = endpoint.collection?.items
  return reply.header('Link', link).send(wrap(endpoint, name ? { ...extra, [name]: items } : items))
}
