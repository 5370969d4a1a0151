import { unanswered } from '#api/fees/estimate'
import type { Chain } from '#chains/chain'
import { entryPoint } from '#chains/entry-point'
import { type NodeReadMethod, nodeReadMethods } from '#chains/facets/node-read'
import { nodeReadOn } from '#chains/facets/optional'
import { ValueProblem } from '#chains/invalid-value'
import { limited } from './limit-reads.ts'
import { badParams, type RpcMethod, type RpcMethods } from './method.ts'
import { modularWalletMethods } from './modular-wallets/methods.ts'
import { userOperationMethods } from './user-operations/methods.ts'

const readNode =
  (method: NodeReadMethod): RpcMethod<Chain> =>
  (ctx, params, chain) =>
    limited(ctx, 'reads', async () => {
      try {
        const outcome = await nodeReadOn(chain)(method, params)
        if (outcome.kind === 'answered') return { result: outcome.result }
        const { kind: _, ...error } = outcome
        return { error }
      } catch (error) {
        if (error instanceof ValueProblem) throw badParams(error.message)
        throw unanswered(ctx, chain, error, 'rpcNodeUnavailable')
      }
    })

const reads = Object.fromEntries(nodeReadMethods.map((method) => [method, readNode(method)]))

/** The methods of the endpoint of a chain. */
export const chainMethods: RpcMethods<Chain> = {
  eth_chainId: async (_ctx, _params, { network }) => ({ result: `0x${network.chainId.toString(16)}` }),
  eth_supportedEntryPoints: async () => ({ result: [entryPoint] }),
  ...reads,
  ...modularWalletMethods,
  ...userOperationMethods,
}
