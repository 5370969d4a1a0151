import { failpoint } from '#runtime/scheduling/failpoints'
import { type AnswerLimits, NodeUnreachable } from '../../nodes/errors.ts'
import { isUnreachable } from '../../nodes/health.ts'
import { httpFailure, openHttp } from '../../nodes/http.ts'
import { type NodeFields, nodeFields } from '../../nodes/values.ts'
import { refusalCodes } from './codes.ts'

/** The node understood the request and refused it. */
export class SolanaRefusal extends Error {
  readonly code: number
  readonly data: unknown

  constructor(message: string, code: number, data: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The JSON-RPC interface of one node. Answers are untrusted until their reader has parsed them. Nothing is tried twice. */
export type SolanaClient = {
  host: string
  /** Throws `SolanaRefusal` when the node refuses it and `NodeUnreachable` when no answer can be trusted. */
  call(method: string, params: readonly unknown[], limits?: AnswerLimits): Promise<unknown>
  /** The slots of blocks that this node named last, by height. */
  slots: Map<number, number>
  close(): void
}

const timeoutDefaultMs = 20_000
const answerBytesDefault = 64 * 1024 * 1024

/** Answers of a node that is busy or behind: they say nothing about the request. */
const busy: readonly number[] = [refusalCodes.unhealthy, refusalCodes.internal, refusalCodes.tooManyRequests]

/** Opens the JSON-RPC interface at a URL, which may have a key in it. */
export function openSolanaClient(url: string, timeoutMs = timeoutDefaultMs): SolanaClient {
  const http = openHttp(url)
  const { host } = http
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  let nextId = 1
  return {
    host,
    slots: new Map(),
    call: async (method, params, limits = {}) => {
      const id = nextId++
      const bounds = {
        timeoutMs: Math.min(limits.timeoutMs ?? timeoutMs, timeoutMs),
        answerBytesMax: limits.answerBytesMax ?? answerBytesDefault,
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      const onAnswer = method === 'sendTransaction' ? () => failpoint('before-send-answer') : undefined
      const answer = await http.send({ method: 'POST', headers, body }, bounds, onAnswer)
      const fields = answerIn(host, answer.body)
      if (fields?.['error'] != null) throw refusalIn(host, fields['error'])
      if (answer.status !== 200) throw httpFailure(host, answer)
      if (fields?.['id'] !== id || fields['result'] === undefined)
        throw new NodeUnreachable(`${host}: ${method} has no result in the answer`)
      return fields['result']
    },
    close: http.close,
  }
}

/** Text in quotes, or a number so long that it may have more digits than a number of JavaScript. */
const longNumbers = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g

/** Reads JSON whose long whole numbers become text, as they would lose their last digits. */
export const parseWithLongNumbers = (text: string): unknown =>
  JSON.parse(text.replace(longNumbers, (found) => (found.startsWith('"') ? found : `"${found}"`)))

function answerIn(host: string, body: Buffer): NodeFields | undefined {
  try {
    return nodeFields(parseWithLongNumbers(body.toString('utf8')), 'answer')
  } catch {
    throw new NodeUnreachable(`${host}: the answer is not JSON`)
  }
}

function refusalIn(host: string, error: unknown): SolanaRefusal | NodeUnreachable {
  const { code, message, data } = nodeFields(error, 'error')
  const text = String(message ?? 'refused').slice(0, 1_000)
  if (typeof code !== 'number' || busy.includes(code)) return new NodeUnreachable(`${host}: ${text}`)
  return new SolanaRefusal(text, code, data)
}

/** States that a node lacks and another one may have: it lags, or has forgotten them. */
const stateCodes: readonly number[] = [
  refusalCodes.blockCleanedUp,
  refusalCodes.blockNotAvailable,
  refusalCodes.noHistory,
  refusalCodes.statusNotAvailable,
  refusalCodes.minContextSlot,
]

/** Whether another endpoint may succeed. */
export const isSolanaNodeFault = (error: unknown): boolean =>
  isUnreachable(error) || (error instanceof SolanaRefusal && stateCodes.includes(error.code))
