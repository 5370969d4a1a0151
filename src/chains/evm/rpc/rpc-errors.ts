export type RpcCall = { method: string; params: unknown[] }

/** Limits of one answer; an answer that exceeds them is not trusted. */
export type AnswerLimits = { timeoutMs?: number | undefined; answerBytesMax?: number | undefined }

/** Codes by which providers report an exceeded limit. */
const limitCodes: readonly unknown[] = [-32005, 429]
export const isLimitCode = (code: unknown): boolean => limitCodes.includes(code)

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

/** No trustworthy answer: refused connection, time-out, reset, HTTP error, HTML, truncated JSON. The call may be done. */
export class RpcUnreachable extends Error {
  /** The backoff that the node requests (429 and 503 with Retry-After). */
  readonly retryAfterMs: number | undefined
  /** The HTTP answer that a server gave in place of JSON-RPC. */
  readonly http: HttpAnswer | undefined

  constructor(message: string, retryAfterMs?: number, http?: HttpAnswer) {
    super(message)
    this.retryAfterMs = retryAfterMs
    this.http = http
  }
}

/** The answer is longer than its reader takes. The request decides that, not the endpoint: it counts as no failure. */
export class AnswerTooLarge extends RpcUnreachable {}

export type HttpAnswer = { status: number; text: string }
