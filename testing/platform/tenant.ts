import { constants, publicEncrypt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answered, request } from './http.ts'

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>

export type HttpOptions = {
  body?: unknown
  query?: Query | URLSearchParams | string
  /** A header of `undefined` removes the default one. */
  headers?: Record<string, string | undefined>
}

export type HttpAnswer = Answered & {
  /** The parsed body; undefined when there is none or it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  body: any
}

export type Http = (method: string, path: string, options?: HttpOptions) => Promise<HttpAnswer>

/** Asks again while the server is too busy, as a client does. A busy machine refuses crowds that a quiet one serves. */
export async function untilAdmitted(ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 429 && answer.status !== 503) return answer
    await sleep(1_000)
  }
}

/** One entity with the credentials of its developer. */
export type Tenant = {
  entityId: string
  apiKey: string
  /** The key of its pages, for the JSON-RPC endpoints; only with it are those asked. */
  clientKey?: string | undefined
  /** 32 bytes as 64 hexadecimal digits; registered. */
  entitySecret: string
  /** A request with this tenant's key of the class that the path takes. A body is sent as JSON; a string or bytes as they are. */
  http: Http
  /** A fresh `entitySecretCiphertext`; each works once. */
  sealSecret(): Promise<string>
}

export function tenantOf(
  url: string,
  {
    entityId,
    apiKey,
    clientKey,
    entitySecret,
  }: Pick<Tenant, 'entityId' | 'apiKey' | 'clientKey' | 'entitySecret'>,
): Tenant {
  const [asServer, asPage] = [httpAs(url, apiKey), httpAs(url, clientKey)]
  const http: Http = (method, path, options) =>
    (/^(\/v1)?\/rpc\//.test(path) ? asPage : asServer)(method, path, options)
  let publicKey: Promise<string> | undefined
  const sealSecret = async () => {
    publicKey ??= http('GET', '/v1/w3s/config/entity/publicKey').then(({ body }) => body.data.publicKey)
    return seal(await publicKey, Buffer.from(entitySecret, 'hex'))
  }
  return { entityId, apiKey, clientKey, entitySecret, http, sealSecret }
}

/** RSA-OAEP with SHA-256, in base64, as the published clients encrypt. */
export function seal(publicKey: string, bytes: Buffer): string {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return publicEncrypt({ key: publicKey, padding, oaepHash: 'sha256' }, bytes).toString('base64')
}

export function httpAs(url: string, apiKey: string | undefined): Http {
  return async (method, path, { body, query, headers = {} } = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    const sent: Record<string, string | undefined> = {
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    }
    const kept = Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const answer = await request(url + path + queryText(query), {
      method,
      headers: Object.fromEntries(kept),
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    })
    return { ...answer, body: parsed(answer.text) }
  }
}

function queryText(query: HttpOptions['query']): string {
  if (query === undefined) return ''
  if (typeof query === 'string') return query.startsWith('?') || query === '' ? query : `?${query}`
  const parameters = new URLSearchParams(query instanceof URLSearchParams ? query : [])
  if (!(query instanceof URLSearchParams)) {
    for (const [name, value] of Object.entries(query))
      for (const item of Array.isArray(value) ? value : [value])
        if (item !== undefined) parameters.append(name, String(item))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
