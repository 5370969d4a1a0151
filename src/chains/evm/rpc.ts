import { Agent, request as httpRequest } from 'node:http'
import { request as httpsRequest, Agent as SecureAgent } from 'node:https'
import { reachPoint } from '#lib/crash-points'

/** A JSON-RPC endpoint. Answers are hostile text until their reader has parsed them. */
export type Rpc = {
  url: string
  /** What it is called in messages: the rest of an address may be a key. */
  host: string
  /** One call; throws `RpcError` when the node refuses it and `RpcUnreachable` when no answer can be trusted. */
  call<Result>(method: string, params: unknown[], limits?: Limits): Promise<Result>
  /** Many calls in one request, answered in the order given; a refused one is its `RpcError`. */
  batch<Result>(
    calls: readonly { method: string; params: unknown[] }[],
    limits?: Limits,
  ): Promise<(Result | RpcError)[]>
  close(): void
}

/** The node understood the call and refused it. */
export class RpcError extends Error {
  readonly rpcCode: number
  readonly data: unknown

  constructor(rpcCode: number, message: string, data?: unknown) {
    super(message)
    this.rpcCode = rpcCode
    this.data = data
  }
}

/** No trustworthy answer: refused connection, time-out, reset, HTTP error, HTML, truncated JSON. The call may have been done. */
export class RpcUnreachable extends Error {
  /** The node asked to be left alone for so long (429 and 503 with Retry-After). */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** Of one answer; what exceeds them cannot be trusted. */
export type Limits = { timeoutMs?: number | undefined; answerBytesMax?: number | undefined }

const defaultTimeoutMs = 20_000
const defaultAnswerBytesMax = 256 * 1024 * 1024

export function createRpc(url: string, timeoutMs = defaultTimeoutMs): Rpc {
  const secure = url.startsWith('https:')
  const { host } = new URL(url)
  const agent = secure
    ? new SecureAgent({ keepAlive: true, maxSockets: 32 })
    : new Agent({ keepAlive: true, maxSockets: 32 })
  let nextId = 1
  const post = (body: string, limits: Limits = {}, onAnswer?: () => void) =>
    postJson(
      url,
      secure,
      agent,
      body,
      {
        timeoutMs: Math.min(limits.timeoutMs ?? timeoutMs, timeoutMs),
        answerBytesMax: limits.answerBytesMax ?? defaultAnswerBytesMax,
      },
      onAnswer,
    )
  return {
    url,
    host,
    async call<Result>(method: string, params: unknown[], limits?: Limits) {
      const id = nextId++
      const answer = await post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), limits)
      const result = resultOf<Result>(answer, method)
      if (result instanceof RpcError) throw result
      return result
    },
    async batch<Result>(calls: readonly { method: string; params: unknown[] }[], limits?: Limits) {
      if (calls.length === 0) return []
      const firstId = nextId
      nextId += calls.length
      const body = calls.map((call, index) => ({ jsonrpc: '2.0', id: firstId + index, ...call }))
      const sends = calls[0]!.method === 'eth_sendRawTransaction'
      const onAnswer = sends ? () => reachPoint('P13') : undefined
      const answers = await post(JSON.stringify(body), limits, onAnswer)
      if (!Array.isArray(answers))
        throw new RpcUnreachable(`${host}: the node did not answer a batch with a batch`)
      const byId = new Map(answers.map((answer) => [answer?.id, answer]))
      return calls.map((call, index) => {
        const answer = byId.get(firstId + index)
        if (answer === undefined)
          throw new RpcUnreachable(`${host}: ${call.method} is missing in the answer of the batch`)
        return resultOf<Result>(answer, call.method)
      })
    },
    close: () => agent.destroy(),
  }
}

function resultOf<Result>(answer: unknown, method: string): Result | RpcError {
  const { result, error } = (answer ?? {}) as {
    result?: Result
    error?: { code?: number; message?: string; data?: unknown }
  }
  if (error) return new RpcError(Number(error.code ?? -32000), String(error.message ?? 'refused'), error.data)
  if (result === undefined) throw new RpcUnreachable(`${method}: the answer has neither result nor error`)
  return result
}

function postJson(
  url: string,
  secure: boolean,
  agent: Agent | SecureAgent,
  body: string,
  { timeoutMs, answerBytesMax }: { timeoutMs: number; answerBytesMax: number },
  onAnswer?: () => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    // Not of the socket, which a node that sends a byte now and then keeps alive for ever.
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    const fail = (reason: string, retryAfterMs?: number) => {
      clearTimeout(timer)
      reject(new RpcUnreachable(`${new URL(url).host}: ${reason}`, retryAfterMs))
    }
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const send = secure ? httpsRequest : httpRequest
    const sent = send(url, { method: 'POST', headers, agent }, (response) => {
      onAnswer?.()
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > answerBytesMax) sent.destroy(new Error('the answer is too large'))
        else chunks.push(chunk)
      })
      response.on('error', (error) => fail(error.message))
      response.on('aborted', () => fail('the answer was cut off'))
      response.on('end', () => {
        if (response.statusCode !== 200)
          return fail(`HTTP ${response.statusCode}`, retryAfterMsOf(response.headers['retry-after']))
        try {
          const answer = JSON.parse(Buffer.concat(chunks).toString('utf8'))
          clearTimeout(timer)
          resolve(answer)
        } catch {
          fail('the answer is not JSON')
        }
      })
    })
    sent.on('error', (error) => fail(error.message))
    sent.end(body)
  })
}

/** Seconds; the other form, a date, is not used by nodes. */
const retryAfterMsOf = (header: string | undefined) =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined
