import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isUuid, newId } from '#lib/ids'
import { formatInstant, systemClock } from '#lib/time'
import { apiKeyIdOf } from '#runtime/auth/actor'
import type { Config, RequestLogSetting } from '#runtime/config'
import type { LoggedRequest } from '#runtime/request-log/bounded-queue'
import { type OperationLog, openOperationLog, resourceIdIn } from '#runtime/request-log/operation-log'
import { openRequestLog } from '#runtime/request-log/request-log'
import { shownBody } from '#runtime/request-log/shown-body'
import { shownAgent, shownHeaders } from '#runtime/request-log/shown-headers'
import type { RequestBodies, RequestRow } from '#runtime/request-log/store'
import { oncePer } from '#runtime/scheduling/memoize'
import type { Scope } from '#runtime/scope'
import { type Endpoint, mayAct } from './endpoint.ts'
import { bodySchema, querySchema, responseSchema } from './schemas.ts'

/** The facts about a request that will be logged, as they become known. */
type Noted = {
  operation: OperationLog
  /** The entity and the actor; a request without a caller is of no tenant, and not logged. */
  caller?: { entityId: string; actor: string }
  replayed?: boolean
  answer?: unknown
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation, if its requests are logged. */
    logged?: Endpoint<never>
  }
  interface FastifyRequest {
    noted?: Noted | undefined
  }
}

/**
 * Whether the log keeps requests of an operation: none of those that need no key and so belong to no tenant, none of probes and
 * streams, and none that read what operators see, the log itself among it.
 */
export const isLogged = (endpoint: Endpoint<never>): boolean =>
  endpoint.auth !== 'none' &&
  !endpoint.raw &&
  endpoint.media === undefined &&
  (mayAct(endpoint) || !endpoint.path.startsWith('/operator/'))

/** A sandbox keeps bodies: its secrets are public, and developers read them. */
const settingOf = ({ requestLog, loopbackPages }: Config): RequestLogSetting =>
  requestLog ?? (loopbackPages ? 'bodies' : 'rows')

/** Whether the console of a sandbox reads: that would fill the log between the requests of an app. Servers keep what members read. */
const isReadByConsole = ({ loopbackPages }: Config, { method, headers }: FastifyRequest): boolean =>
  Boolean(loopbackPages) && method === 'GET' && headers['x-bezant-console'] !== undefined

const operationLogOf = oncePer(
  (endpoint: Endpoint<never>): OperationLog =>
    openOperationLog({
      route: endpoint.path,
      params: endpoint.params,
      query: querySchema(endpoint),
      body: bodySchema(endpoint),
      answer: responseSchema(endpoint),
    }),
)

/** Logs each request of an operation with `logged` once it is answered. */
export function logRequests(server: FastifyInstance, scope: Scope): void {
  const log = openRequestLog(scope)
  server.decorateRequest('noted', undefined)
  server.addHook('onRequest', (request, _, done) => {
    const { logged } = request.routeOptions.config
    if (logged && settingOf(scope.config) !== 'off' && !isReadByConsole(scope.config, request))
      request.noted = { operation: operationLogOf(logged) }
    done()
  })
  server.addHook('preSerialization', (request, _, payload, done) => {
    if (request.noted) request.noted.answer = payload
    done(null, payload)
  })
  server.addHook('onResponse', (request, reply, done) => {
    done()
    const { noted } = request
    if (!noted?.caller) return
    try {
      log.add(loggedOf(scope, request, reply, { ...noted, caller: noted.caller }))
    } catch (error) {
      scope.log.error({ err: error, requestId: request.id }, 'a request could not be logged')
    }
  })
  server.addHook('onClose', () => log.close())
}

type NotedAnswer = Noted & { caller: NonNullable<Noted['caller']> }

function loggedOf(
  scope: Scope,
  request: FastifyRequest,
  reply: FastifyReply,
  noted: NotedAnswer,
): LoggedRequest {
  const { operation, caller, answer, replayed = false } = noted
  const nowMs = scope.clock.nowMs()
  // A protocol inside HTTP has ids of its own, which clients choose.
  const isTunnel = request.routeOptions.config.logged?.showError !== undefined
  const given = isUuid(request.headers['x-request-id']) ? request.id.toLowerCase() : undefined
  const params = request.params as Record<string, unknown>
  const row: RequestRow = {
    entityId: caller.entityId,
    id: given === undefined && isUuid(request.id) ? request.id : newId(nowMs),
    requestId: given ?? null,
    apiKeyId: apiKeyIdOf(caller.actor) ?? null,
    method: request.method,
    route: operation.route,
    path: operation.pathOf(params, request.query),
    status: reply.statusCode,
    code: codeIn(reply.statusCode, answer),
    idempotencyKey: idempotencyKeyIn(request.body),
    resourceId: reply.statusCode < 400 && !isTunnel ? (resourceIdIn(answer) ?? idIn(params)) : null,
    replayed,
    durationMs: Math.round(reply.elapsedTime),
    ip: normalizeIP(request.ip),
    userAgent: shownAgent(request.headers['user-agent']),
    answeredAt: formatInstant(systemClock.nowMs()),
    createDate: formatInstant(nowMs),
  }
  return {
    row,
    bodies: settingOf(scope.config) === 'bodies' ? bodiesOf(row, request, reply, noted) : undefined,
  }
}

function bodiesOf(
  { entityId, id, createDate, status }: RequestRow,
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, answer }: Noted,
): RequestBodies {
  const asked = shownBody(operation.bodyOf(request.body))
  const answered = shownBody(operation.answerOf(status, answer))
  return {
    entityId,
    id,
    requestHeaders: shownHeaders(request.headers),
    responseHeaders: shownHeaders(reply.getHeaders()),
    requestBody: asked?.text ?? null,
    requestBytes: asked?.bytes ?? null,
    requestSha256: asked?.sha256 ?? null,
    responseBody: answered?.text ?? null,
    responseBytes: answered?.bytes ?? null,
    responseSha256: answered?.sha256 ?? null,
    createDate,
  }
}

function codeIn(status: number, answer: unknown): number | null {
  const { code } = (status >= 400 && typeof answer === 'object' ? (answer ?? {}) : {}) as { code?: unknown }
  return Number.isInteger(code) ? (code as number) : null
}

function idempotencyKeyIn(body: unknown): string | null {
  const { idempotencyKey } = (body ?? {}) as { idempotencyKey?: unknown }
  return isUuid(idempotencyKey) ? idempotencyKey.toLowerCase() : null
}

const idIn = ({ id }: Record<string, unknown>): string | null => (isUuid(id) ? id.toLowerCase() : null)
