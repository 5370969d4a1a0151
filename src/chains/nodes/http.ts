import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest, Agent as SecureAgent } from 'node:https'
import { AnswerTooLarge, NodeUnreachable } from './errors.ts'

type HttpRequest = {
  method: 'GET' | 'POST'
  /** Behind the address of the endpoint; nothing when absent. */
  path?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

type HttpResponse = { status: number; headers: IncomingHttpHeaders; body: Buffer }

/** The connections to one endpoint. Its answers have a maximum of time and of size. */
type Http = {
  /** Its name in messages: the rest of the URL may hold a key. */
  host: string
  /** Throws `NodeUnreachable` without a whole answer. `onAnswer` is called when its first bytes are there. */
  send(
    request: HttpRequest,
    limits: { timeoutMs: number; answerBytesMax: number },
    onAnswer?: () => void,
  ): Promise<HttpResponse>
  close(): void
}

export function openHttp(url: string): Http {
  const secure = url.startsWith('https:')
  const { host } = new URL(url)
  const agent = secure
    ? new SecureAgent({ keepAlive: true, maxSockets: 32 })
    : new Agent({ keepAlive: true, maxSockets: 32 })
  const start = secure ? httpsRequest : httpRequest
  const send: Http['send'] = (
    { method, path = '', headers = {}, body },
    { timeoutMs, answerBytesMax },
    onAnswer,
  ) =>
    new Promise((resolve, reject) => {
      // Not a socket timeout: a node that sends a byte now and then would extend that for ever.
      const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      const fail = (reason: string) => {
        clearTimeout(timer)
        reject(new NodeUnreachable(`${host}: ${reason}`))
      }
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const sent = start(
        `${url}${path}`,
        { method, headers: { ...headers, ...length }, agent },
        (response) => {
          onAnswer?.()
          const chunks: Buffer[] = []
          let bytes = 0
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes <= answerBytesMax) return void chunks.push(chunk)
            clearTimeout(timer)
            reject(new AnswerTooLarge(`${host}: the answer is larger than ${answerBytesMax} bytes`))
            sent.destroy()
          })
          response.on('error', (error) => fail(error.message))
          response.on('aborted', () => fail('the answer was cut off'))
          response.on('end', () => {
            clearTimeout(timer)
            const { statusCode: status = 0, headers } = response
            resolve({ status, headers, body: Buffer.concat(chunks) })
          })
        },
      )
      sent.on('error', (error) => fail(error.message))
      sent.end(body)
    })
  return { host, send, close: () => agent.destroy() }
}

/** Length of the start of an HTTP error that is searched for the reason of a refusal. */
const errorBytesMax = 1_000

/** An answer that no node gave, but a server before it. */
export const httpFailure = (host: string, { status, headers, body }: HttpResponse): NodeUnreachable =>
  new NodeUnreachable(`${host}: HTTP ${status}`, retryAfterMsOf(headers['retry-after']), {
    status,
    text: body.toString('utf8', 0, errorBytesMax),
  })

/** Seconds; the other form, a date, is not used by nodes. */
const retryAfterMsOf = (header: string | undefined) =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined

export function readJson(host: string, { body }: Pick<HttpResponse, 'body'>): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw new NodeUnreachable(`${host}: the answer is not JSON`)
  }
}
