import { randomUUID } from 'node:crypto'
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { ErrorName } from '#lib/error-kinds'
import { ApiError } from '#lib/errors'
import { createAuthenticate } from '#runtime/auth/authenticate'
import type { RequestScope, Scope } from '#runtime/scope'
import { admitRequests } from './admission.ts'
import { apiErrorOf } from './api-error.ts'
import { parseBodies } from './body.ts'
import { registerConsole } from './console.ts'
import { registerDocs } from './docs/site.ts'
import type { Endpoint } from './endpoint.ts'
import { openEventStreams } from './event-streams.ts'
import type { InterceptRequest } from './intercept.ts'
import { newListener } from './listener.ts'
import { logRequests } from './log-requests.ts'
import type { ReadMember } from './member-session.ts'
import { createNotFoundMessage, fixedPathsOf, type MissingProduct } from './not-found.ts'
import { type ProviderSignIn, registerProviderSignIn } from './provider-sign-in.ts'
import { type ReferencePage, registerReferencePage } from './reference-page.ts'
import { type AroundRequests, type ReadSession, type ReadUser, registerEndpoint } from './register.ts'
import { registerUserPage, type UserPage } from './user-page.ts'

/** A removed path of the interface: it answers 410 and names the replacement. */
export type RemovedPath = { method: Endpoint['method'] | 'ALL'; path: string; instead: string }

/** Looks at the path of the operation, or the requested one where there is none, and at the headers of a request. */
export type RequestGuard = (request: { path: string; headers: IncomingHttpHeaders }) => void

type ServerInput = {
  scope: Scope
  endpoints: readonly Endpoint<never>[]
  /** Serves the console, the documents and the reference of the API too. */
  pages?: ReferencePage & { isSandbox: boolean }
  /** Serves the page of users, for itself alone: sites of other origins may neither read responses nor frame them. */
  userPage?: UserPage
  removed: readonly RemovedPath[]
  notBuilt: readonly MissingProduct[]
  /** Adds the composition root's parts beyond the scope, such as chains and custody. */
  widen: (ctx: RequestScope) => RequestScope
  /** Reads the header X-User-Token; a server without it knows no users. */
  readUser?: ReadUser
  readSession?: ReadSession
  /** Reads the sessions of the console; a server without it has none. */
  readMember?: ReadMember
  /** Lets members sign in with a provider. */
  providerSignIn?: ProviderSignIn | undefined
  /** Returns why the process cannot serve, or `undefined`; a reason is answered with 503. */
  notReady?: () => string | undefined
  /** Whether requests with a key or a user are kept in the request log. */
  logsRequests?: boolean
  /** Refuses requests before they are admitted, by throwing an `ApiError`. */
  guard?: RequestGuard | undefined
  /** Meets every request before its operation runs. */
  intercept?: InterceptRequest | undefined
  /** Runs the work of each request. */
  around?: AroundRequests | undefined
  /** Replaces the usual message for requests without a valid key. */
  refusal?: string | undefined
}

/** Creates the HTTP server with every endpoint registered; the caller adds pages of its own and listens. */
export async function createServer(input: ServerInput): Promise<FastifyInstance> {
  const { config } = input.scope
  const server = fastify({
    trustProxy: config.proxies.length > 0 && config.proxies,
    rewriteUrl: (request) => pathOf(request.url ?? '/'),
    clientErrorHandler: refuseUnreadable,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    serverFactory: (handler) => newListener(config, handler),
    routerOptions: { maxParamLength: 500 },
    exposeHeadRoutes: true,
    frameworkErrors: (thrown, request, reply) => {
      reply.header('X-Request-Id', request.id)
      return sendError(reply, apiErrorOf(thrown))
    },
    forceCloseConnections: 'idle',
    logger: false,
  })
  // With a certificate of its own, the header would bind all other programs of localhost to https for a year.
  const strictTransportSecurity = !config.tls
  if (input.userPage)
    await registerUserPage(server, { ...input.userPage, log: input.scope.log, strictTransportSecurity })
  else await allowAllOrigins(server, strictTransportSecurity)
  server.addHook('onRequest', async (request, reply) => void reply.header('X-Request-Id', request.id))
  measureRequests(server, input.scope)
  if (input.logsRequests) logRequests(server, input.scope)
  const { guard } = input
  // The router decodes paths: a text with %73 in place of s leads to the same operation.
  if (guard)
    server.addHook('onRequest', async ({ routeOptions, url, headers }) =>
      guard({ path: routeOptions.url ?? url, headers }),
    )
  const authenticate = createAuthenticate(input.scope, input.refusal)
  const callerOf = await admitRequests(server, authenticate, config.requestsPerSecondMax, input.readMember)
  if (input.pages) {
    await registerReferencePage(server, { ...input, ...input.pages, baseUrl: () => config.publicUrl })
    await registerConsole(server, input.pages)
    if (input.providerSignIn) registerProviderSignIn(server, input.providerSignIn)
    const { tryOutKey: apiKey } = input.pages
    await registerDocs(server, () => ({ url: config.publicUrl, apiKey }))
  }
  parseBodies(server)
  answerErrors(server, input)
  const registration = { ...input, callerOf, streams: openEventStreams(server) }
  for (const endpoint of input.endpoints) registerEndpoint(server, registration, endpoint)
  for (const removed of input.removed) registerRemoved(server, removed)
  for (const route of fixedPathsOf(input.notBuilt)) server.route({ ...route, handler: answerNotFound })
  return server
}

/** An API key is no cookie, so pages of all origins may send requests and read the responses. */
async function allowAllOrigins(server: FastifyInstance, strictTransportSecurity: boolean): Promise<void> {
  await server.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity })
  await server.register(cors, {
    origin: '*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-AppInfo', 'X-Request-Id', 'X-User-Token'],
    exposedHeaders: ['Link', 'X-Request-Id', 'Retry-After'],
    maxAge: 600,
    // An OPTIONS request that is no preflight gets the plain response too, not an error in another format.
    strictPreflight: false,
  })
}

/** Measures requests by route pattern, so that requested paths do not each create a series. */
function measureRequests(server: FastifyInstance, { metrics }: Scope): void {
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.requests.observe(
      { method: request.method, route, status: reply.statusCode },
      reply.elapsedTime / 1_000,
    )
  })
}

/** Returns the request path: proxies may prefix it with scheme and host, and clients with slashes at its beginning and end. */
const pathOf = (url: string) =>
  `/${url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^\/+/, '')}`.replace(
    /^(\/v\d+\/[^?#]*[^/?#])\/+(?=[?#]|$)/,
    '$1',
  )

/** Answers requests that the HTTP parser refuses, and that so reach no handler, with our error codes. */
function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return void socket.destroy()
  const refusal = new ApiError(kindsByParserCode[error.code ?? ''] ?? 'invalidRequest')
  const body = JSON.stringify({ code: refusal.code, message: refusal.message })
  const status = `${refusal.status} ${STATUS_CODES[refusal.status]}`
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  socket.end(`${head}Connection: close\r\n\r\n${body}`)
}

const kindsByParserCode: Record<string, ErrorName> = {
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
}

/** Returns the caller's own id if it is a plain token, so that it can be found in the log; a fresh one otherwise. */
const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && /^[\w.-]{1,128}$/.test(header) ? header : randomUUID()

function answerErrors(server: FastifyInstance, { scope, endpoints, notBuilt, userPage }: ServerInput): void {
  server.setErrorHandler((thrown, request, reply) => {
    const error = apiErrorOf(thrown)
    if (error.status >= 500)
      // Not the requested path: a link of a payment page opens it.
      scope.log.error(
        { err: thrown, requestId: request.id, route: request.routeOptions.url },
        'request failed',
      )
    return sendError(reply, error, request.routeOptions.config.errorText)
  })
  const messageFor = createNotFoundMessage(notBuilt, endpoints)
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]!
    const isOfApi = userPage !== undefined && /^\/v\d\//.test(path)
    const message = isOfApi ? wrongPort(scope) : messageFor(request.method, path)
    return sendError(reply, new ApiError('notFound', message))
  })
}

const wrongPort = ({ config }: Scope) =>
  `Resource not found: this port serves the page of users. The API is at ${config.publicUrl ?? 'the port before it'}: give that as the base address.`

/** Otherwise an operation with a parameter would answer a path that is not built: `contracts/{id}` for `contracts/events`. */
const answerNotFound = (_: FastifyRequest, reply: FastifyReply) => reply.callNotFound()

function sendError(reply: FastifyReply, error: ApiError, hasErrorText = false) {
  const isCrowded = error.status === 429 || error.status === 503
  if (isCrowded && !reply.hasHeader('Retry-After')) reply.header('Retry-After', 1)
  return reply.status(error.status).send({
    code: error.code,
    message: error.message,
    ...(hasErrorText && { error: error.message, errorCode: /^[A-Z_]+(?=: )/.exec(error.message)?.[0] }),
    ...(error.fields.length > 0 && { errors: error.fields }),
  })
}

function registerRemoved(server: FastifyInstance, removed: RemovedPath): void {
  const method = removed.method === 'ALL' ? ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] : removed.method
  const url = removed.path.replaceAll(/\{(\w+)\}/g, ':$1')
  const message = `This operation was removed from the interface. ${removed.instead}`
  const handler = (_: FastifyRequest, reply: FastifyReply) => sendError(reply, new ApiError('gone', message))
  server.route({ method, url, handler })
}
