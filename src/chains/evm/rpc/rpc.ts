import { Agent, request as httpRequest } from 'node:http'
import { request as httpsRequest, Agent as SecureAgent } from 'node:https'
import { failpoint } from '#runtime/scheduling/failpoints'
import { createBatches, type JsonRpcResponse, listOf, refusesList } from './batches.ts'
import {
  type AnswerLimits,
  AnswerTooLarge,
  type HttpAnswer,
  type RpcCall,
  RpcError,
  RpcUnreachable,
} from './rpc-errors.ts'

export { RpcError, RpcUnreachable } from './rpc-errors.ts'

/** A JSON-RPC endpoint. Answers are untrusted until their reader has parsed them. */
export type Rpc = {
  url: string
  /** Its name in messages: the rest of the URL may hold a key. */
  host: string
  /** One call; throws `RpcError` when the node refuses it and `RpcUnreachable` when no answer can be trusted. */
  call<Result>(method: string, params: unknown[], limits?: AnswerLimits): Promise<Result>
  /** Many calls in as few requests as the endpoint takes, answered in the order given; a refused one is its `RpcError`. */
  batch<Result>(calls: readonly RpcCall[], limits?: AnswerLimits): Promise<(Result | RpcError)[]>
  /** Known maximum of calls per request. */
  batchMax(): number
  close(): void
}

const defaultTimeoutMs = 20_000
const defaultAnswerBytesMax = 256 * 1024 * 1024
/** Length of the start of an HTTP error that is searched for the reason of a refusal. */
const errorBytesMax = 1_000

type RpcOptions = {
  timeoutMs?: number | undefined
  /** Maximum calls of one request; learnt when absent. */
  batchMax?: number | undefined
}

export function createRpc(url: string, { timeoutMs = defaultTimeoutMs, batchMax }: RpcOptions = {}): Rpc {
  const secure = url.startsWith('https:')
  const { host } = new URL(url)
  const agent = secure
    ? new SecureAgent({ keepAlive: true, maxSockets: 32 })
    : new Agent({ keepAlive: true, maxSockets: 32 })
  let nextId = 1
  const post = (body: string, limits: AnswerLimits = {}, onAnswer?: () => void) =>
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
  const batches = createBatches(
    async <Result>(calls: readonly RpcCall[], limits: AnswerLimits | undefined, form: 'list' | 'call') => {
      const firstId = nextId
      nextId += calls.length
      const asked = calls.map((call, index) => ({ jsonrpc: '2.0', id: firstId + index, ...call }))
      const sends = calls[0]?.method === 'eth_sendRawTransaction'
      const onAnswer = sends ? () => failpoint('before-send-answer') : undefined
      const body = JSON.stringify(form === 'list' ? asked : asked[0])
      const answer = await post(body, limits, onAnswer).catch((error) => {
        throw form === 'list' ? refusesList(error, body.length) : error
      })
      const answers = form === 'list' ? listOf(answer, host) : [answer as JsonRpcResponse]
      const byId = new Map(answers.map((each) => [each?.id, each]))
      return calls.map(({ method }, index) => {
        const own = byId.get(firstId + index)
        if (own === undefined) throw new RpcUnreachable(`${host}: ${method} is missing in the answer`)
        return resultOf<Result>(own, method)
      })
    },
    batchMax,
  )
  return {
    url,
    host,
    async call<Result>(method: string, params: unknown[], limits?: AnswerLimits) {
      const id = nextId++
      const answer = await post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), limits)
      const result = resultOf<Result>(answer, method)
      if (result instanceof RpcError) throw result
      return result
    },
    batch: batches.ask,
    batchMax: batches.sizeMax,
    close: () => agent.destroy(),
  }
}

function resultOf<Result>(answer: unknown, method: string): Result | RpcError {
  const { result, error } = (answer ?? {}) as NonNullable<JsonRpcResponse> & { result?: Result }
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
    // Not a socket timeout: a node that sends a byte now and then would extend that for ever.
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    const fail = (reason: string, retryAfterMs?: number, http?: HttpAnswer) => {
      clearTimeout(timer)
      reject(new RpcUnreachable(`${new URL(url).host}: ${reason}`, retryAfterMs, http))
    }
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const send = secure ? httpsRequest : httpRequest
    const sent = send(url, { method: 'POST', headers, agent }, (response) => {
      onAnswer?.()
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= answerBytesMax) return void chunks.push(chunk)
        clearTimeout(timer)
        reject(new AnswerTooLarge(`${new URL(url).host}: the answer is larger than ${answerBytesMax} bytes`))
        sent.destroy()
      })
      response.on('error', (error) => fail(error.message))
      response.on('aborted', () => fail('the answer was cut off'))
      response.on('end', () => {
        const { statusCode: status = 0 } = response
        if (status !== 200) {
          const text = Buffer.concat(chunks).toString('utf8', 0, errorBytesMax)
          return fail(`HTTP ${status}`, retryAfterMsOf(response.headers['retry-after']), { status, text })
        }
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
