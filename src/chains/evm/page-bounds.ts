import type { Hex } from '#lib/hex'
import type { AnswerLimits } from './rpc-errors.ts'

/** Bounds of what a page makes a node execute; `changes` of the state by address, as nodes take them. */
export type PageBounds = { gas: Hex; limits: AnswerLimits; changes: Readonly<Record<string, object>> }
