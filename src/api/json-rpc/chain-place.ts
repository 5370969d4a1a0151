import type { Chain } from '#chains/chain'
import { networkOfRpcPath } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'

/** The connected chain that the path of the endpoint names, on the environment of the key. */
export function requireChainAt(ctx: Ctx, path: string): Chain {
  const network = networkOfRpcPath(path)
  const chain = network && ctx.chains.find(network.blockchain)
  const { environment } = ctx.entity
  if (chain && network.environment === environment) return chain
  const usable = ctx.chains
    .list()
    .flatMap((each) => (each.network.environment === environment ? (each.network.rpcPath ?? []) : []))
  const instead =
    usable.length === 0
      ? ', and no chain is available to this key'
      : `: use ${usable.join(', ')}${usable.length > 1 ? suggest(path, usable) : ''}`
  const reason = !network
    ? 'is not a chain of this endpoint'
    : network.environment !== environment
      ? `is ${network.blockchain}, which needs a ${network.environment} key`
      : `is ${network.blockchain}, to which this server is not connected`
  throw invalid({ at: 'the path', reason: `${reason}${instead}`, value: path, kind: 'rpcChainUnknown' })
}
