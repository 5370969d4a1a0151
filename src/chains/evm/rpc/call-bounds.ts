import type { AnswerLimits } from './rpc-errors.ts'

/** Bounds of what a request makes a node execute; `changes` of the state by address, as nodes take them. */
export type CallBounds = {
  gas: bigint
  limits: AnswerLimits
  changes?: Readonly<Record<string, object>>
}

/** Limits of the answer to a call that a request asks for: parsing and showing it holds the process for milliseconds. */
export const callLimits = { timeoutMs: 10_000, answerBytesMax: 1024 * 1024 } satisfies AnswerLimits

/**
 * Gas of one call, estimate or simulation of a page: less than for an API key, because the key of a page is public. A
 * sponsored operation uses no more.
 */
export const pageGasMax = 10_000_000n
