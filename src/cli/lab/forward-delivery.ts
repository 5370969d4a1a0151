import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

/** A delivery as the stream of a listener has it. */
export type StreamedDelivery = {
  id: string
  line: 'v1' | 'v2'
  messageId: string
  topic?: string
  resourceId?: string
  state?: string
  query: string
  /** Names and values in turn, as the platform sent them. */
  headers: readonly string[]
  /** The bytes, in base64. */
  body: string
  timeoutMs: number
}

type ForwardedAnswer = { status: number; headers: Record<string, string>; body: string }

/** Headers of the connection, not of the message. */
const ofConnection = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding'])

/** As much of an answer as an attempt shows, and more. */
const keptBytes = 4_096
const readBytesMax = 65_536
const headersMax = 30
const headerLengthMax = 300

/** Posts the exact bytes and headers of a delivery to a URL; rejects without an answer in time. */
export function forwardDelivery(address: URL, delivery: StreamedDelivery): Promise<ForwardedAnswer> {
  const { query, timeoutMs } = delivery
  const url = new URL(address)
  if (query !== '') url.search = url.search === '' ? query : `${url.search}&${query}`
  const bytes = Buffer.from(delivery.body, 'base64')
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const fail = (error: Error & { code?: string }) =>
      reject(
        new Error(
          signal.aborted
            ? `no answer within ${timeoutMs / 1_000} s`
            : error.message || error.code || error.name,
        ),
      )
    const sent = request(url, { method: 'POST', headers: headersOf(delivery, bytes), signal, agent: false })
    sent.on('error', fail)
    sent.on('response', (response) => {
      // From here on there is an answer; a broken connection only ends the reading of its body.
      sent.removeListener('error', fail).on('error', () => undefined)
      void read(response).then(resolve, reject)
    })
    sent.end(bytes)
  })
}

function read(response: IncomingMessage): Promise<ForwardedAnswer> {
  const { statusCode: status = 0 } = response
  const kept: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      if (size < keptBytes) kept.push(chunk)
      size += chunk.length
      if (size > readBytesMax) response.destroy()
    })
    response.on('error', () => undefined)
    response.on('close', () => {
      if (status < 200 || status > 599)
        return reject(new Error(`answered ${status}, which is no status of an answer`))
      const headers = Object.entries(response.headers)
        .slice(0, headersMax)
        .map(([name, value]) => [name.slice(0, headerLengthMax), String(value).slice(0, headerLengthMax)])
      resolve({
        status,
        headers: Object.fromEntries(headers),
        body: Buffer.concat(kept).toString('utf8', 0, keptBytes),
      })
    })
  })
}

function headersOf({ headers }: StreamedDelivery, bytes: Buffer): Record<string, string | string[]> {
  const sent: Record<string, string | string[]> = {}
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    if (ofConnection.has(name.toLowerCase())) continue
    const before = sent[name]
    sent[name] = before === undefined ? value : [before, value].flat()
  }
  return { ...sent, 'Content-Length': String(bytes.length) }
}
