import rateLimit, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#lib/errors'
import type { Authenticate, KeyHolder } from '#runtime/auth/authenticate'
import type { KeyScope } from '#runtime/scope'
import type { Endpoint } from './endpoint.ts'
import { admitMember, type ReadMember, sessionTokenIn, signedOut } from './member-session.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The required authorization; routes without it need no key and have no caller. */
    auth?: Endpoint['auth']
    isChanging?: boolean
    /** Whether refusals carry their text as `error` too. */
    errorText?: boolean
  }
}

/** Returns the key holder of an admitted request; throws when the request has no verified key. */
export type CallerOf = (request: FastifyRequest) => KeyHolder

/**
 * Admits each request before a byte of its body is read: checks its key or session, then counts the request against its holder,
 * or against its source address without a verified one. So a caller cannot exhaust the rate limit of another key.
 */
export async function admitRequests(
  server: FastifyInstance,
  authenticate: Authenticate,
  requestsPerSecondMax: number,
  readMember?: ReadMember,
): Promise<CallerOf> {
  const callers = new WeakMap<FastifyRequest, KeyHolder>()
  const limit = await createLimit(server, requestsPerSecondMax)
  server.addHook('onRequest', async (request, reply) => {
    const { auth = 'none' } = request.routeOptions.config
    if (auth === 'none' || auth === 'user') {
      await limit(request, reply, normalizeIP(request.ip))
      // The token is read later, but without one no byte of the body is.
      if (auth === 'user') requireUserToken(request.headers['x-user-token'])
      return
    }
    const { authorization } = request.headers
    const isOfMembers = auth === 'member' || authorization === undefined
    const token = isOfMembers && readMember ? sessionTokenIn(request.headers) : undefined
    let holder: KeyHolder
    try {
      if (auth === 'member' && token === undefined) throw new ApiError('unauthorized', signedOut)
      holder =
        readMember && token !== undefined
          ? await admitMember(readMember, token, request, request.routeOptions.config)
          : await authenticate(authorization, request.ip)
    } catch (error) {
      await limit(request, reply, normalizeIP(request.ip))
      throw error
    }
    callers.set(request, holder)
    const { actor, scopes, entity } = holder
    if (request.noted) request.noted.caller = { entityId: entity.id, actor }
    // The key of a page is public: one visitor must not use up the limit of the others.
    if (scopes.includes('client')) await limit(request, reply, `${actor} ${normalizeIP(request.ip)}`)
    await limit(request, reply, actor, scopes.includes('client') ? addressesShare : 1)
    if (auth !== 'member')
      requireScope(auth === 'apiKey' ? 'api' : auth === 'clientKey' ? 'client' : auth, holder)
  })
  return (request) => {
    const caller = callers.get(request)
    if (!caller) throw new ApiError('unauthorized')
    return caller
  }
}

/** The token of a user, as the header has it. */
export function requireUserToken(header: string | string[] | undefined): string {
  if (header !== undefined) return String(header)
  throw new ApiError('userTokenUnknown', 'The user token is missing: send it in the header X-User-Token.')
}

/** Refuses a request whose key lacks the needed scope, before the request is parsed. */
function requireScope(needed: KeyScope, { scopes, member }: KeyHolder): void {
  if (scopes.includes(needed)) return
  if (member && needed !== 'client')
    throw new ApiError(
      'forbidden',
      `Forbidden: ${member.name} is a ${member.role} here, and this needs an operator. bezant members grant gives another role.`,
    )
  if (needed === 'client') throw new ApiError('unauthorized', needsClientKey)
  if (scopes.includes('client')) throw new ApiError('unauthorized', needsApiKey)
  throw new ApiError(
    'forbidden',
    `Forbidden: this API key lacks the scope ${needed}. Create one with: bezant keys create --scope ${needed}`,
  )
}

const needsClientKey =
  'This operation needs a client key, not an API key. Create one with: bezant keys create --client'
const needsApiKey = 'This operation needs an API key: a client key opens the JSON-RPC endpoint alone.'

/** The rate of all addresses with one client key, in rates of one address. */
const addressesShare = 8

type RateLimit = (
  request: FastifyRequest,
  reply: FastifyReply,
  counted: string,
  share?: 1 | typeof addressesShare,
) => Promise<void>

async function createLimit(server: FastifyInstance, max: number): Promise<RateLimit> {
  if (max === 0) return async () => undefined
  const countedAs = new WeakMap<FastifyRequest, string>()
  const keyGenerator = (request: FastifyRequest) => countedAs.get(request)!
  await server.register(rateLimit, { global: false, max, timeWindow: 1_000, keyGenerator })
  const counts = {
    1: server.createRateLimit(),
    [addressesShare]: server.createRateLimit({ max: max * addressesShare }),
  }
  return async (request, reply, counted, share = 1) => {
    countedAs.set(request, counted)
    const outcome = await counts[share](request)
    if (outcome.isAllowed || !outcome.isExceeded) return
    reply.header('Retry-After', outcome.ttlInSeconds)
    throw new ApiError('tooManyRequests')
  }
}
