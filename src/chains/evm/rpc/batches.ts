/**
 * Sends many calls in as few requests as an endpoint takes. Providers limit the calls and bytes of a request, and refuse
 * larger ones in many ways. A refused request is halved, down to single calls, and the accepted size is kept. After an hour,
 * twice that size is tried once.
 */
import { type AnswerLimits, isLimitCode, NodeUnreachable, type RpcCall, RpcError } from './rpc-errors.ts'

/** The endpoint refuses a list of this many calls. None of them was executed, or a retry of them is harmless. */
class BatchRefused extends NodeUnreachable {}

/** Sends one request: a list of calls, or a single call. */
type AskOnce = <Result>(
  calls: readonly RpcCall[],
  limits: AnswerLimits | undefined,
  form: 'list' | 'call',
) => Promise<(Result | RpcError)[]>

export type Batches = {
  ask<Result>(calls: readonly RpcCall[], limits?: AnswerLimits): Promise<(Result | RpcError)[]>
  /** Known maximum of calls per request. */
  sizeMax(): number
}

const sizeMaxDefault = 1_000
/** Web servers take a mebibyte by default. */
const bodyBytesMax = 1_000_000
const growAfterMs = 3_600_000

export function createBatches(askOnce: AskOnce, most = sizeMaxDefault): Batches {
  let learnt = most
  let learntAtMs = 0
  const learn = (size: number) => {
    learnt = size
    learntAtMs = performance.now()
  }
  const sizeMax = () => (performance.now() - learntAtMs < growAfterMs ? learnt : Math.min(most, learnt * 2))
  const ask = async <Result>(calls: readonly RpcCall[], limits?: AnswerLimits) => {
    const answers: (Result | RpcError)[] = []
    let size = sizeMax()
    let refusal: BatchRefused | undefined
    while (answers.length < calls.length) {
      const part = firstOf(calls, answers.length, size)
      try {
        const given = await askOnce<Result>(part, limits, size === 1 ? 'call' : 'list')
        // A single call that is refused with the same message was not refused because of its batch.
        if (refusal && isSame(given[0], refusal)) throw new NodeUnreachable(refusal.message)
        if (refusal || part.length > learnt) learn(size)
        answers.push(...given)
      } catch (error) {
        if (!(error instanceof BatchRefused)) throw error
        refusal = error
        size = Math.max(1, Math.floor(part.length / 2))
      }
    }
    return answers
  }
  return { ask, sizeMax }
}

const isSame = (answer: unknown, refusal: BatchRefused) =>
  answer instanceof RpcError && refusal.message.endsWith(answer.message)

/** The next `size` calls, or as many as fit into a body. */
function firstOf(calls: readonly RpcCall[], from: number, size: number): readonly RpcCall[] {
  let bytes = 0
  const fitting = calls.slice(from, from + size)
  const over = fitting.findIndex(({ params }) => (bytes += bytesOf(params)) > bodyBytesMax)
  return over < 0 ? fitting : fitting.slice(0, Math.max(1, over))
}

/** Approximate size: only strings make a call long. */
const bytesOf = (params: readonly unknown[]) =>
  params.reduce<number>((sum, param) => sum + (typeof param === 'string' ? param.length : 200), 100)

/** Messages by which providers refuse a request for the number of its calls, or for its size. */
const refusalPattern =
  /\bbatch|too many (rpc )?calls|more than \d+ (rpc )?(calls|requests)|(body|entity|payload|request|response)( size)? (is )?too (large|big)/i
const refusalStatuses = [400, 413, 422]

/** A server may also reset the connection in the middle of a body that is too long for it. */
const longBodyBytes = 65_536

/** The failure of a request with a list of calls: `BatchRefused` when it is about the list, else itself. */
export function refusesList(error: unknown, bodyBytes: number): unknown {
  if (!(error instanceof NodeUnreachable)) return error
  const { http, message } = error
  const isRefusal = http
    ? refusalStatuses.includes(http.status) || refusalPattern.test(http.text)
    : bodyBytes > longBodyBytes && /EPIPE|ECONNRESET|socket hang up/.test(message)
  return isRefusal ? new BatchRefused(message) : error
}

export type JsonRpcResponse =
  | { id?: unknown; result?: unknown; error?: { code?: number; message?: string; data?: unknown } }
  | undefined

/** The answers to a list of calls; throws `BatchRefused` when the endpoint takes no list, or none of this length. */
export function listOf(answer: unknown, host: string): JsonRpcResponse[] {
  const answers = Array.isArray(answer) ? (answer as JsonRpcResponse[]) : undefined
  const refused = (answers ?? [answer as JsonRpcResponse]).find(isAboutTheList)
  if (refused) throw new BatchRefused(`${host}: ${refused.error?.message}`)
  if (answers) return answers
  const error = (answer as JsonRpcResponse)?.error
  const message = `${host}: ${error?.message ?? 'the node did not answer a batch with a batch'}`
  // A rate limit is not about this list.
  throw isLimitCode(error?.code) ? new NodeUnreachable(message) : new BatchRefused(message)
}

/** Whether an error is about the batch as a whole. The text of a revert comes from a contract and is not matched. */
const isAboutTheList = (answer: JsonRpcResponse) => {
  const message = answer?.error?.message ?? ''
  return refusalPattern.test(message) && !/revert/i.test(message)
}
