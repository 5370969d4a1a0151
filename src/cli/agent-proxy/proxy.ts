/**
 * Passes requests of the `circle` command-line tool on to the API, with the key of the operator: the tool has none, and names its user
 * by a token. Paths begin with `/proxy/test` or `/proxy/live`, as the tool writes them.
 */
import { isListedEmail } from '#identity/command-logins/index'
import { ApiError } from '#lib/errors'
import { openWebServer } from '#runtime/http/web-server'
import { isForUs, type ListenAt } from '../listen-address.ts'
import { type ProxiedOperation, proxiedOperation } from './operations.ts'
import { findServices, type PaidService } from './paid-services.ts'

type AgentProxyOptions = ListenAt & {
  publicOrigin: string | undefined
  /** The address of the API. */
  url: string
  apiKey: string
  /** The first part of the paths that are served: `test` or `live`, as the key is. */
  environment: 'test' | 'live'
  appId: string
  services: readonly PaidService[]
  /** The addresses that may log in, and domains such as `*@example.com`; undefined: all. */
  emails: readonly string[] | undefined
}

const bodyBytesMax = 262_144

/** Requests that need no user and are answered at once; further ones are refused. */
const strangersMax = 8

/** Serves the tool until it is closed. */
export function serveAgentProxy(options: AgentProxyOptions) {
  let strangers = 0
  const answer = async (request: Request): Promise<Response> => {
    if (!isForUs(request.headers, options.publicOrigin)) throw new ApiError('forbidden', refusedOrigin)
    const { pathname, searchParams } = new URL(request.url)
    if (request.method === 'GET' && pathname === '/v2/x402/discovery/resources')
      return Response.json(findServices(options.services, searchParams))
    const prefix = `/proxy/${options.environment}`
    if (!pathname.startsWith(`${prefix}/`)) throw unknown(options, pathname)
    const path = pathname.slice(prefix.length)
    if (!isForStrangers(request, path)) return pass(options, request, path)
    if (strangers >= strangersMax) throw new ApiError('tooManyRequests')
    strangers += 1
    return pass(options, request, path).finally(() => {
      strangers -= 1
    })
  }
  return openWebServer({
    host: options.host.replace(/^\[|\]$/g, ''),
    port: options.port,
    path: '*',
    bodyBytesMax,
    silenceMaxMs: 90_000,
    answer: (request) => answer(request).catch(shownError),
    refuse: (status, message) => Response.json({ code: status, message }, { status }),
  }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(
      `cannot listen at ${options.host}:${options.port} (${code}): choose another address with --listen`,
    )
  })
}

const refusedOrigin = 'Host and Origin must be those of this machine or of --public-url.'

function unknown({ environment }: AgentProxyOptions, path: string): ApiError {
  if (path.startsWith('/v1/policy'))
    return new ApiError(
      'proxyOperationUnknown',
      'An operator sets the limits of users here, with bezant policy: this proxy has no operation for them.',
    )
  const other = environment === 'test' ? 'live' : 'test'
  return new ApiError(
    'proxyOperationUnknown',
    path.startsWith(`/proxy/${other}`)
      ? `This proxy has a key for ${environment} networks: ${environment === 'test' ? 'add --testnet, or name a test network' : 'leave --testnet out'}.`
      : undefined,
  )
}

const isForStrangers = ({ method }: Request, path: string) =>
  proxiedOperation(method, path)?.needsUser === false

/** Answers a request whose path at the tool's service is `path`. */
async function pass(options: AgentProxyOptions, request: Request, path: string): Promise<Response> {
  if (request.method === 'GET' && path === '/config') return Response.json({ appId: options.appId })
  if (request.method === 'POST' && path === '/fund') return fund(options, request)
  if (request.method === 'POST' && path === '/v1/w3s/auth/challenges') return refuseChallenges()
  const operation = proxiedOperation(request.method, path)
  if (!operation) throw unknown(options, path)
  if (operation.needsUser) requireToken(request)
  const text = request.method === 'GET' ? undefined : await request.text()
  const body = text === undefined ? undefined : bodyOf(options, operation, request, text)
  if (path === '/v1/w3s/users/email/token') requireListed(options, text ?? '')
  return ask(options, request, operation.path + new URL(request.url).search, body)
}

function requireToken({ headers }: Request): string {
  const token = headers.get('x-user-token')
  if (!token)
    throw new ApiError('unauthorized', 'Log in: this operation needs the token of a user in X-User-Token.')
  return token
}

/** The tool then logs in by a code alone, which is the way of accounts that are older than its challenges. */
const refuseChallenges = () =>
  Response.json(
    { code: 139001, reason: 'AUTH_LEGACY_ACCOUNT', message: 'This server logs users in by a mailed code.' },
    { status: 409 },
  )

function bodyOf(
  { emails }: AgentProxyOptions,
  { wire }: ProxiedOperation,
  request: Request,
  text: string,
): string {
  if (!wire) return text
  if (wire === 'walletNamedTwice') {
    const { sourceAddress: _, blockchain: __, ...rest } = membersOf(text)
    return JSON.stringify(rest)
  }
  // The code may be one that a page asked for, past this proxy: the API compares its address too.
  const login = wire === 'sealedByDevice' && { deviceToken: requireToken(request), emails }
  return JSON.stringify({ encrypt: text, ...login })
}

function requireListed({ emails }: AgentProxyOptions, text: string): void {
  const { email } = membersOf(text)
  if (emails && !isListedEmail(emails, String(email).toLowerCase())) throw new ApiError('proxyAddressRefused')
}

function membersOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new ApiError('invalidRequest', 'API parameter invalid. The body is not valid JSON.')
  }
}

/** Lets the faucet of a sandbox pay to a wallet of the user. */
async function fund(options: AgentProxyOptions, request: Request): Promise<Response> {
  requireToken(request)
  const { address, blockchain, token } = membersOf(await request.text())
  const query = new URLSearchParams({ address: String(address), blockchain: String(blockchain) })
  const found = await ask(options, request, `/v1/w3s/wallets?${query}`, undefined, 'GET')
  if (!found.ok) return found
  const { data } = (await found.json()) as { data: { wallets: readonly object[] } }
  if (data.wallets.length === 0)
    throw new ApiError(
      'walletNotFound',
      'Cannot find the wallet: the faucet pays to wallets of the user alone.',
    )
  const coin = String(token ?? 'usdc').toLowerCase()
  const coins = { native: coin === 'native' || coin === 'eth', usdc: coin === 'usdc', eurc: coin === 'eurc' }
  const paid = await ask(
    options,
    request,
    '/v1/faucet/drips',
    JSON.stringify({ address, blockchain, ...coins }),
  )
  return paid.status === 204 ? Response.json({ data: { address, blockchain, token: coin } }) : paid
}

const waitMs = 60_000
const passedHeaders = ['content-type', 'retry-after', 'x-request-id']

async function ask(
  { url, apiKey }: AgentProxyOptions,
  { method: asked, headers }: Request,
  path: string,
  body?: string,
  method = asked,
): Promise<Response> {
  const token = headers.get('x-user-token')
  const answered = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(token && { 'x-user-token': token }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    redirect: 'error',
    signal: AbortSignal.timeout(waitMs),
  }).catch(() => {
    throw new ApiError('proxyServerAway')
  })
  const kept = passedHeaders.flatMap((name): [string, string][] => {
    const value = answered.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  const text = await answered.text()
  return new Response(answered.status === 204 ? null : text, { status: answered.status, headers: kept })
}

function shownError(error: unknown): Response {
  if (!(error instanceof ApiError)) throw error
  const { code, message, status } = error
  return Response.json({ code, message }, { status })
}
