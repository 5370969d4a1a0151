import { failpoint } from '#runtime/scheduling/failpoints'
import { httpFailure, openHttp, readJson } from '../../nodes/http.ts'
import { createBatches, type JsonRpcResponse, listOf, refusesList } from './batches.ts'
import { type AnswerLimits, NodeUnreachable, type RpcCall, RpcError } from './rpc-errors.ts'

export { NodeUnreachable, RpcError } from './rpc-errors.ts'

/** A JSON-RPC endpoint. Answers are untrusted until their reader has parsed them. */
export type Rpc = {
  url: string
  /** Its name in messages: the rest of the URL may hold a key. */
  host: string
  /** One call; throws `RpcError` when the node refuses it and `NodeUnreachable` when no answer can be trusted. */
  call<Result>(method: string, params: unknown[], limits?: AnswerLimits): Promise<Result>
  /** Many calls in as few requests as the endpoint takes, answered in the order given; a refused one is its `RpcError`. */
  batch<Result>(calls: readonly RpcCall[], limits?: AnswerLimits): Promise<(Result | RpcError)[]>
  /** Known maximum of calls per request. */
  batchMax(): number
  /** Methods that it turned out not to have. */
  lacking: Set<string>
  close(): void
}

const defaultTimeoutMs = 20_000
const defaultAnswerBytesMax = 256 * 1024 * 1024

type RpcOptions = {
  timeoutMs?: number | undefined
  /** Maximum calls of one request; learnt when absent. */
  batchMax?: number | undefined
}

export function createRpc(url: string, { timeoutMs = defaultTimeoutMs, batchMax }: RpcOptions = {}): Rpc {
  const http = openHttp(url)
  const { host } = http
  let nextId = 1
  const post = async (body: string, limits: AnswerLimits = {}, onAnswer?: () => void): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await http.send(
      { method: 'POST', headers, body },
      {
        timeoutMs: Math.min(limits.timeoutMs ?? timeoutMs, timeoutMs),
        answerBytesMax: limits.answerBytesMax ?? defaultAnswerBytesMax,
      },
      onAnswer,
    )
    if (answer.status !== 200) throw httpFailure(host, answer)
    return readJson(host, answer)
  }
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
        if (own === undefined) throw new NodeUnreachable(`${host}: ${method} is missing in the answer`)
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
    lacking: new Set(),
    close: http.close,
  }
}

function resultOf<Result>(answer: unknown, method: string): Result | RpcError {
  const { result, error } = (answer ?? {}) as NonNullable<JsonRpcResponse> & { result?: Result }
  if (error) return new RpcError(Number(error.code ?? -32000), String(error.message ?? 'refused'), error.data)
  if (result === undefined) throw new NodeUnreachable(`${method}: the answer has neither result nor error`)
  return result
}
