import type { Hex } from '#lib/hex'

/** The methods that a page may call on a node: they read, and the server bounds what they cost. */
export const nodeReadMethods = [
  'eth_getBalance',
  'eth_blockNumber',
  'eth_call',
  'eth_getBlockByNumber',
  'eth_gasPrice',
  'eth_getCode',
] as const
export type NodeReadMethod = (typeof nodeReadMethods)[number]

/** `refused`: the node answered with an error; `data` is what a reverted call returned. */
export type NodeReadOutcome =
  | { kind: 'answered'; result: unknown }
  | { kind: 'refused'; code: number; message: string; data?: Hex }

/** One read that a page asks for, with its parameters as they came. Throws `ValueProblem`, which names the parameter. */
export type NodeRead = (method: NodeReadMethod, params: readonly unknown[]) => Promise<NodeReadOutcome>
