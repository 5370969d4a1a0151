export { type AnswerLimits, AnswerTooLarge, NodeUnreachable } from '../../nodes/errors.ts'

export type RpcCall = { method: string; params: unknown[] }

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
