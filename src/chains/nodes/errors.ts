/** Limits of one answer; an answer that exceeds them is not trusted. */
export type AnswerLimits = { timeoutMs?: number | undefined; answerBytesMax?: number | undefined }

export type HttpAnswer = { status: number; text: string }

/** No trustworthy answer: refused connection, time-out, reset, HTTP error, HTML, truncated JSON. The call may be done. */
export class NodeUnreachable extends Error {
  /** The backoff that the node requests (429 and 503 with Retry-After). */
  readonly retryAfterMs: number | undefined
  /** The HTTP answer that a server gave in place of that of a node. */
  readonly http: HttpAnswer | undefined

  constructor(message: string, retryAfterMs?: number, http?: HttpAnswer) {
    super(message)
    this.retryAfterMs = retryAfterMs
    this.http = http
  }
}

/** The answer is longer than its reader takes. The request decides that, not the endpoint: it counts as no failure. */
export class AnswerTooLarge extends NodeUnreachable {}
