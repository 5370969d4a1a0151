import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { ErrorName } from '#lib/error-kinds'
import { ApiError } from '#lib/errors'
import { isNestedWithin } from '#lib/json'
import { createAuthenticate } from '#runtime/auth/authenticate'
import { isDatabaseAway } from '#runtime/db/db'
import type { RequestScope, Scope } from '#runtime/scope'
import { registerConsole } from './console.ts'
import type { Endpoint } from './endpoint.ts'
import { registerOpenApi } from './openapi.ts'
import { registerEndpoint } from './register.ts'

/** A path that the interface once had: it answers 410 and says what to use instead. */
export type RemovedPath = { method: Endpoint['method'] | 'ALL'; path: string; instead: string }

export type ServerInput = {
  scope: Scope
  endpoints: readonly Endpoint<never>[]
  removed: readonly RemovedPath[]
  /** Adds what the composition root knows beyond the scope, such as chains and custody. */
  widen: (ctx: RequestScope) => RequestScope
  /** Whether the process can do its work; anything but `undefined` is answered as 503. */
  notReady?: () => string | undefined
}

/** Makes the HTTP server with every endpoint registered; the caller adds pages of its own and listens. */
export async function createServer(input: ServerInput): Promise<FastifyInstance> {
  const { config } = input.scope
  const server = fastify({
    bodyLimit: config.bodyBytesMax,
    rewriteUrl: (request) => pathOf(request.url ?? '/'),
    clientErrorHandler: refuseUnreadable,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    routerOptions: { maxParamLength: 500 },
    exposeHeadRoutes: true,
    frameworkErrors: (thrown, request, reply) => {
      reply.header('X-Request-Id', request.id)
      return sendError(reply, apiErrorOf(thrown))
    },
    forceCloseConnections: 'idle',
    logger: false,
  })
  await server.register(helmet, { contentSecurityPolicy: false })
  await server.register(cors, {
    origin: '*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-Request-Id', 'X-User-Token'],
    exposedHeaders: ['Link', 'X-Request-Id', 'Retry-After'],
    maxAge: 600,
    // An OPTIONS request that is no preflight gets the plain answer too, not an error of another shape.
    strictPreflight: false,
  })
  if (config.requestsPerSecondMax > 0) await limitRate(server, config.requestsPerSecondMax)
  await registerOpenApi(server, () => config.publicUrl)
  await registerConsole(server)
  parseBodies(server)
  server.addHook('onRequest', async (request, reply) => void reply.header('X-Request-Id', request.id))
  answerErrors(server, input.scope)
  const authenticate = createAuthenticate(input.scope.database.reading)
  for (const endpoint of input.endpoints) registerEndpoint(server, { ...input, authenticate }, endpoint)
  for (const removed of input.removed) registerRemoved(server, removed)
  return server
}

/** What is asked for: proxies also write it with scheme and host in front, and clients with doubled slashes. */
const pathOf = (url: string) => `/${url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^\/+/, '')}`

/** What the parser of HTTP itself refuses never becomes a request; it gets our vocabulary all the same. */
function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return void socket.destroy()
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const refusal = new ApiError(tooLarge ? 'headersTooLarge' : 'invalidRequest')
  const body = JSON.stringify({ code: refusal.code, message: refusal.message })
  const status = `${refusal.status} ${STATUS_CODES[refusal.status]}`
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  socket.end(`${head}Connection: close\r\n\r\n${body}`)
}

/** The caller's own id when it is a plain token, so that it can be found in the log; a fresh one otherwise. */
const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && /^[\w.-]{1,128}$/.test(header) ? header : randomUUID()

/** Clients send `application/json` with no body, and one sends a form type with no body: both are an empty object. */
function parseBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
    const type = (request.headers['content-type'] ?? '').toLowerCase()
    if (text === '') return done(null, {})
    if (type !== '' && !/^application\/([\w.+-]+\+)?json/.test(type))
      return done(new ApiError('unsupportedMediaType'))
    const body = parseJson(String(text).replace(/^\uFEFF/, ''))
    if (body === undefined) return done(badBody('is not valid JSON'))
    if (!isNestedWithin(body, bodyLevelsMax))
      return done(badBody(`nests deeper than ${bodyLevelsMax} levels`))
    done(null, body)
  })
}

/** Deeper than any documented body; what walks a body recursively may rely on it. */
const bodyLevelsMax = 64

const badBody = (reason: string) =>
  new ApiError('invalidRequest', `API parameter invalid. The body ${reason}.`, [
    { error: 'invalid_value', message: `body ${reason}`, location: 'body', constraints: {} },
  ])

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function answerErrors(server: FastifyInstance, scope: Scope): void {
  server.setErrorHandler((thrown, request, reply) => {
    const error = apiErrorOf(thrown)
    if (error.status >= 500)
      scope.log.error({ err: thrown, requestId: request.id, url: request.url }, 'request failed')
    return sendError(reply, error)
  })
  server.setNotFoundHandler((request, reply) => {
    const message = `Resource not found: there is no ${request.method} ${request.url.split('?')[0]}. The operations are listed at /docs.`
    return sendError(reply, new ApiError('notFound', message))
  })
}

const sendError = (reply: FastifyReply, error: ApiError) =>
  reply.status(error.status).send({
    code: error.code,
    message: error.message,
    ...(error.fields.length > 0 && { errors: error.fields }),
  })

/** What the framework refuses before a verb runs, in our vocabulary. */
const kindsByFrameworkCode: Record<string, ErrorName> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payloadTooLarge',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupportedMediaType',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalidRequest',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalidRequest',
  FST_ERR_BAD_URL: 'invalidRequest',
  FST_ERR_PARAM_LENGTH: 'invalidRequest',
}

function apiErrorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  const { code, statusCode } = thrown as { code?: string; statusCode?: number }
  const kind = kindsByFrameworkCode[code ?? '']
  if (kind) return new ApiError(kind)
  if (statusCode === 429) return new ApiError('tooManyRequests')
  if (statusCode && statusCode >= 400 && statusCode < 500) return new ApiError('invalidRequest')
  // The client may try again: what was accepted all the same answers to its key.
  if (isDatabaseAway(thrown)) return new ApiError('unavailable')
  return new ApiError('internal')
}

async function limitRate(server: FastifyInstance, max: number): Promise<void> {
  const keyOf = (request: FastifyRequest) => request.headers.authorization?.split(':')[1] ?? request.ip
  await server.register(rateLimit, { max, timeWindow: 1_000, keyGenerator: keyOf })
}

function registerRemoved(server: FastifyInstance, removed: RemovedPath): void {
  const method = removed.method === 'ALL' ? ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] : removed.method
  const url = removed.path.replaceAll(/\{(\w+)\}/g, ':$1')
  const message = `This operation was removed from the interface. ${removed.instead}`
  const schema = { hide: true } as object
  const handler = (_: FastifyRequest, reply: FastifyReply) => sendError(reply, new ApiError('gone', message))
  server.route({ method, url, schema, handler })
}
