import type { Option } from './command.ts'

/** The options of commands that ask a running server. */
export const serverOptions: Record<string, Option> = {
  url: {
    type: 'string',
    value: 'URL',
    about: 'Address of the server; BEZANT_URL sets it too.',
    default: 'http://127.0.0.1:4020',
  },
}

/** A server that does not answer, in contrast to one that refuses. */
export class ServerAway extends Error {}

type ServerRequest = {
  method?: 'GET' | 'POST'
  /** The path with its query, or the address of a next page. */
  path: string
  apiKey: string
  /** Sent as JSON. */
  body?: object | undefined
  headers?: Record<string, string>
}

type ServerAnswer = {
  status: number
  data: unknown
  /** The reason of a refusal. */
  message: string | undefined
  /** The next page, at the address that this command uses. */
  next: string | undefined
}

/** Asks the server at `url`, which the user named. Throws ServerAway where none answers, and an error where it is another program. */
export async function askServer(
  url: string,
  { method = 'GET', path, apiKey, body, headers = {} }: ServerRequest,
): Promise<ServerAnswer> {
  const response = await fetch(path.startsWith('/') ? url + path : path, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  }).catch(away(url, method))
  const answer = (await response.json().catch(() => ({}))) as { data?: unknown; message?: string }
  const { status } = response
  if (response.ok ? answer.data === undefined : answer.message === undefined && ![401, 403].includes(status))
    throw new Error(
      `the server that answers at ${url} with ${status} is not Bezant: give its address with --url`,
    )
  return { status, data: answer.data, message: answer.message, next: nextOf(url, response) }
}

function nextOf(url: string, { headers }: Response): string | undefined {
  const link = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  return link === undefined ? undefined : url + link.replace(/^https?:\/\/[^/]+/, '')
}

/** Errors of a request that the server may have read before its answer was lost. */
const lostAnswers = ['TimeoutError', 'UND_ERR_SOCKET', 'ECONNRESET']

const away = (url: string, method: string) => (error: unknown) => {
  const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException }
  const reason = cause?.code ?? name
  if (method === 'POST' && lostAnswers.includes(reason))
    throw new ServerAway(
      `the answer of ${url} was lost (${reason}), and the request may have been accepted: repeat the call with the same idempotencyKey`,
    )
  const remedy = 'start one with bezant sandbox or bezant serve, or give its address with --url'
  throw new ServerAway(`no server answers at ${url} (${reason}): ${remedy}`)
}
