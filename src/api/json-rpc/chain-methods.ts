import { unanswered } from '#api/estimate'
import type { Chain } from '#chains/chain'
import { type NodeReadMethod, nodeReadMethods } from '#chains/node-read'
import { ValueProblem } from '#chains/value-problem'
import { ApiError } from '#lib/errors'
import { badParams, type RpcMethod, type RpcMethods } from './method.ts'

/** The EntryPoint of ERC-4337, version 0.7. It has the same address on every chain. */
const entryPoint = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'

/** Number of reads of one entity that may wait for nodes in this process: others have to find connections too. */
const readsMax = 8
const readsOf = new Map<string, number>()

const readNode =
  (method: NodeReadMethod): RpcMethod<Chain> =>
  async (ctx, params, chain) => {
    const { id } = ctx.entity
    const under = readsOf.get(id) ?? 0
    if (under >= readsMax) throw new ApiError('rpcReadsExceeded')
    readsOf.set(id, under + 1)
    try {
      const outcome = await chain.read(method, params)
      if (outcome.kind === 'answered') return { result: outcome.result }
      const { kind: _, ...error } = outcome
      return { error }
    } catch (error) {
      if (error instanceof ValueProblem) throw badParams(error.message)
      throw unanswered(ctx, chain, error, 'rpcNodeUnavailable')
    } finally {
      const left = readsOf.get(id)! - 1
      if (left > 0) readsOf.set(id, left)
      else readsOf.delete(id)
    }
  }

const reads = Object.fromEntries(nodeReadMethods.map((method) => [method, readNode(method)]))

/** The methods of the endpoint of a chain. */
export const chainMethods: RpcMethods<Chain> = {
  eth_chainId: async (_ctx, _params, { network }) => ({ result: `0x${network.chainId.toString(16)}` }),
  eth_supportedEntryPoints: async () => ({ result: [entryPoint] }),
  ...reads,
}
