import { errorKinds } from '#lib/error-kinds'
import type { Option, ParsedArgs } from '../command.ts'
import { serverAddress } from '../server-address.ts'
import { inOptions, type RefusedField } from './option-names.ts'

/** The options of every command of the lab. */
export const labOptions: Record<string, Option> = {
  url: {
    type: 'string',
    value: 'URL',
    about: 'Address of the sandbox, as it printed it; BEZANT_URL sets it too.',
    default: 'http://127.0.0.1:4020',
  },
  json: {
    type: 'boolean',
    about: 'Print each result as one line of JSON, as into a pipe or a file; a terminal shows a table.',
  },
}

/** The shape of every answer of the API. */
type SandboxReply = { data?: unknown; code?: number; message?: string; errors?: RefusedField[] }

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'
/** `type` is the media type of a text or of bytes. */
type SentBody = { body?: object | string | Uint8Array | undefined; type?: string; signal?: AbortSignal }

const slowAfterMs = 500

/** Asks the sandbox, and returns the content of `data`; throws one line with the remedy. */
export async function askSandbox<Data>(
  args: ParsedArgs,
  method: HttpMethod,
  path: string,
  /** Sent as JSON; a text as it is. */
  body?: object | string,
): Promise<Data> {
  const slow = setTimeout(() => {
    if (process.stderr.isTTY) process.stderr.write('waiting for the sandbox …\n')
  }, slowAfterMs)
  try {
    const response = await requestSandbox(args, method, path, { body })
    if (response.status === 204) return undefined as Data
    return ((await response.json().catch(() => ({}))) as SandboxReply).data as Data
  } finally {
    clearTimeout(slow)
  }
}

/** No sandbox answers. */
export class SandboxAway extends Error {}

/** A sandbox refuses; `status` is that of its answer. */
export class SandboxRefused extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** Sends a request to the sandbox, and returns an answer of success. */
export async function requestSandbox(
  args: ParsedArgs,
  method: HttpMethod,
  path: string,
  { body, signal, type = 'application/yaml' }: SentBody = {},
): Promise<Response> {
  const url = serverAddress(args, 'sandbox')
  const sent = sentOf(body, type)
  const response = await fetch(url + path, { method, ...sent, ...(signal && { signal }) }).catch(
    explainAway(url),
  )
  if (response.ok) return response
  const answer = (await response.json().catch(() => ({}))) as SandboxReply
  const reason = inOptions(args, reasonOf(url, response.status, answer), answer.errors ?? [])
  throw new SandboxRefused(reason, response.status)
}

/** JSON of an object; a text or bytes as they are. */
function sentOf(body: SentBody['body'], type: string): Pick<RequestInit, 'body' | 'headers'> {
  if (body === undefined) return {}
  const isPlain = typeof body === 'string' || body instanceof Uint8Array
  return isPlain
    ? { body: body as NonNullable<RequestInit['body']>, headers: { 'content-type': type } }
    : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

const explainAway = (url: string) => (error: unknown) => {
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
  const code = cause?.code ?? 'no answer'
  const remedy = /CERT|SIGNED|ISSUER/.test(code)
    ? 'set NODE_EXTRA_CA_CERTS to the certificate that it printed'
    : 'start one with bezant sandbox, or give its address with --url'
  throw new SandboxAway(`no sandbox answers at ${url} (${code}): ${remedy}`)
}

/** The message of a refusal. A server without these operations is no sandbox, or one with credentials of its own. */
function reasonOf(url: string, status: number, { code, message }: SandboxReply): string {
  if (message === undefined || code === undefined)
    return `what answers at ${url} with ${status} is no sandbox: give the address of one with --url`
  // The server knows no such operation; with the operation, it says which resource is missing.
  const isUnknownPath = status === 404 && message.includes(' does not exist')
  if (status === 401 || isUnknownPath)
    return `the server at ${url} lets nobody control it: only a sandbox without --expose does, so start one with bezant sandbox`
  const kind = Object.values(errorKinds).find(
    ({ code: known, text }) => known === code && message.startsWith(`${text} `),
  )
  return kind ? message.slice(kind.text.length + 1) : message
}
