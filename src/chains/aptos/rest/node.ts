import { failpoint } from '#runtime/scheduling/failpoints'
import type { BlockHash } from '../../addresses/types.ts'
import { type AnswerLimits, NodeUnreachable } from '../../nodes/errors.ts'
import { isUnreachable } from '../../nodes/health.ts'
import { httpFailure, openHttp, readJson } from '../../nodes/http.ts'
import { u64 } from './values.ts'

/** The node understood the request and refused it. */
export class RestRefusal extends Error {
  readonly errorCode: string
  readonly vmErrorCode: number | undefined

  constructor(message: string, errorCode: string, vmErrorCode: number | undefined) {
    super(message)
    this.errorCode = errorCode
    this.vmErrorCode = vmErrorCode
  }
}

/** The REST interface of one node. Answers are untrusted until their reader has parsed them. Nothing is tried twice. */
export type RestNode = {
  host: string
  /** Throws `RestRefusal` when the node refuses it and `NodeUnreachable` when no answer can be trusted. */
  get(path: string, limits?: AnswerLimits): Promise<unknown>
  /** Reads an answer that is one number of 64 bits, whose last digits JSON would lose. */
  getNumber(path: string, limits?: AnswerLimits): Promise<bigint>
  post(path: string, body: object, limits?: AnswerLimits): Promise<unknown>
  /** Sends a transaction in BCS. */
  postTransaction(path: string, signed: Buffer, limits?: AnswerLimits): Promise<unknown>
  /** Hashes of the blocks that this node named last, by height. */
  named: Map<number, Promise<BlockHash>>
  close(): void
}

const timeoutDefaultMs = 20_000
const answerBytesDefault = 64 * 1024 * 1024

/** Answers of a server before the node, or of a node that is busy: they say nothing about the request. */
const busyCodes = ['mempool_is_full', 'rate_limited', 'internal_error', 'service_unavailable']

type RestRequest = Parameters<ReturnType<typeof openHttp>['send']>[0]

/** A node at a URL with or without the `/v1` of its interface; a query, such as a key, is sent with each request. */
export function openRestNode(url: string, chainId: number, timeoutMs = timeoutDefaultMs): RestNode {
  const { origin, pathname, search } = new URL(url)
  const base = `${origin}${pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`
  const http = openHttp(base)
  const { host } = http
  const send = async (request: RestRequest, limits: AnswerLimits = {}, onAnswer?: () => void) => {
    const { path = '' } = request
    const asked = search ? `${path}${path.includes('?') ? `&${search.slice(1)}` : search}` : path
    const bounds = {
      timeoutMs: Math.min(limits.timeoutMs ?? timeoutMs, timeoutMs),
      answerBytesMax: limits.answerBytesMax ?? answerBytesDefault,
    }
    const answer = await http.send({ ...request, path: asked }, bounds, onAnswer)
    const given = answer.headers['x-aptos-chain-id']
    // The ledger itself is asked to compare the id.
    if (path !== '' && given !== undefined && given !== String(chainId))
      throw new NodeUnreachable(`${host} is a node of chain ${String(given).slice(0, 20)}, not of ${chainId}`)
    if (answer.status >= 200 && answer.status < 300) return answer
    throw refusalIn(answer) ?? httpFailure(host, answer)
  }
  const headers = { accept: 'application/json' }
  return {
    host,
    named: new Map(),
    get: async (path, limits) => readJson(host, await send({ method: 'GET', path, headers }, limits)),
    getNumber: async (path, limits) => {
      const { body } = await send({ method: 'GET', path, headers }, limits)
      return u64(body.toString('utf8', 0, 40).trim(), 'number')
    },
    post: async (path, body, limits) =>
      readJson(
        host,
        await send(
          {
            method: 'POST',
            path,
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          },
          limits,
        ),
      ),
    postTransaction: async (path, body, limits) => {
      const type = { 'content-type': 'application/x.aptos.signed_transaction+bcs' }
      const onAnswer = path === '/transactions' ? () => failpoint('before-send-answer') : undefined
      const request = { method: 'POST', path, headers: { ...headers, ...type }, body } as const
      return readJson(host, await send(request, limits, onAnswer))
    },
    close: http.close,
  }
}

/** The refusal that a node states in an answer of status 4xx; `undefined` where it is busy, or where a server before it answers. */
function refusalIn({ status, body }: { status: number; body: Buffer }): RestRefusal | undefined {
  if (status < 400 || status === 429 || status >= 500) return undefined
  try {
    const { message, error_code, vm_error_code } = JSON.parse(body.toString('utf8')) as Record<
      string,
      unknown
    >
    if (typeof error_code !== 'string' || busyCodes.includes(error_code)) return undefined
    const code = typeof vm_error_code === 'number' ? vm_error_code : undefined
    return new RestRefusal(String(message ?? error_code).slice(0, 1_000), error_code, code)
  } catch {
    return undefined
  }
}

/** States that a node lacks and another one may have: it lags, or has forgotten them. */
const stateCodes = ['version_not_found', 'version_pruned', 'block_not_found', 'block_pruned']

/** Whether another endpoint may succeed. */
export const isNodeFault = (error: unknown): boolean =>
  isUnreachable(error) || (error instanceof RestRefusal && stateCodes.includes(error.errorCode))

/** The answer, or `undefined` where the node says that there is none of these. Another refusal is thrown. */
export async function unlessMissing<Answer>(
  answer: Promise<Answer>,
  ...codes: readonly string[]
): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RestRefusal && codes.includes(error.errorCode)) return undefined
    throw error
  }
}
