import type { Hex } from '#lib/hex'
import type { AnswerLimits } from './rpc-errors.ts'

/** Bounds of what a page makes a node execute; `changes` of the state by address, as nodes take them. */
export type PageBounds = { gas: Hex; limits: AnswerLimits; changes: Readonly<Record<string, object>> }

/** Bounds of one request of a page to a node. */
export const pageGasMax = 30_000_000n
export const pageLimits: AnswerLimits = { timeoutMs: 10_000, answerBytesMax: 4 * 1024 * 1024 }
