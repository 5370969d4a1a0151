import { session } from '../session.svelte.ts'

/** An answer: its data, and its own page and those beside it as the `Link` header names them. */
export type Answer<Data> = {
  data: Data
  self?: string
  next?: string
  prev?: string
  requestId: string
  fault?: string
}

/** A refusal of the server, in its own words. */
export class Refusal extends Error {
  /** The status of the answer; 0 without one. */
  readonly status: number
  readonly code: number | undefined
  readonly requestId: string
  readonly fields: readonly FieldRefusal[]

  constructor(
    message: string,
    status: number,
    code?: number,
    requestId = '',
    fields: readonly FieldRefusal[] = [],
  ) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.fields = fields
  }
}

/** A field that the server refused, and why. */
export type FieldRefusal = { location: string; message: string }

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Asks the API. The console uses the same operations as every other client. `headers` are sent besides its own. */
export async function ask<Data>(
  method: Method,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<Data>> {
  const isText = typeof body === 'string'
  const response = await fetch(path, {
    method,
    headers: {
      ...session.headers(path),
      ...headers,
      ...(body !== undefined && { 'Content-Type': isText ? 'text/plain' : 'application/json' }),
    },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  }).catch(() => {
    throw new Refusal('The server does not answer. Is it still running?', 0)
  })
  const requestId = response.headers.get('x-request-id') ?? ''
  const answer = response.status === 204 ? {} : await response.json().catch(() => ({}))
  if (!response.ok) {
    const refusal = refusalOf(response.status, answer, requestId)
    session.refused(refusal)
    throw refusal
  }
  return {
    data: answer.data ?? answer,
    requestId,
    fault: response.headers.get('x-bezant-fault') ?? undefined,
    ...linksOf(response.headers.get('link') ?? ''),
  }
}

export const read = async <Data>(path: string): Promise<Data> => (await ask<Data>('GET', path)).data

/** Reads a file: its text, its media type, and its digest as the server names it. */
export async function download(path: string): Promise<{ text: string; type: string; digest: string }> {
  const response = await fetch(path, { headers: session.headers(path) })
  const { headers } = response
  if (response.ok) {
    const [type, digest] = [headers.get('content-type') ?? '', headers.get('repr-digest') ?? '']
    return { text: await response.text(), type, digest }
  }
  const answer = await response.json().catch(() => ({}))
  const refusal = refusalOf(response.status, answer, headers.get('x-request-id') ?? '')
  session.refused(refusal)
  throw refusal
}

/** A path with the parameters that have a value. */
export function pathWith(path: string, query: Record<string, string | undefined>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value)
  const text = params.toString()
  return text ? `${path}?${text}` : path
}

type ErrorBody = { code?: number; message?: string; errors?: { location?: string; message?: string }[] }

function refusalOf(status: number, { code, message, errors = [] }: ErrorBody, requestId: string): Refusal {
  const fields = errors.map((error) => ({ location: error.location ?? '', message: error.message ?? '' }))
  return new Refusal(message ?? `The server answered ${status}.`, status, code, requestId, fields)
}

/** The addresses of the page and of those beside it, without the host: a proxy may know it by another name. */
function linksOf(header: string): { self?: string; next?: string; prev?: string } {
  const links: Record<string, string> = {}
  for (const [, address = '', rel = ''] of header.matchAll(/<([^>]+)>; rel="(\w+)"/g)) {
    const { pathname, search } = new URL(address, location.origin)
    links[rel] = pathname + search
  }
  return { self: links['self'], next: links['next'], prev: links['prev'] }
}
