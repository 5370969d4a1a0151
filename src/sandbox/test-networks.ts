import { type Network, networkOf, networks } from '#chains/networks/index'
import { suggest } from '#lib/suggest'

/** The chains that start when none are named: every test network. */
export const defaultBlockchains = networks
  .filter(({ environment }) => environment === 'TEST')
  .map(({ blockchain }) => blockchain)

/** Returns a network that a sandbox can run; throws for any other, with the option that names it. */
export function requireTestNetwork(blockchain: string, option: string): Network {
  const network = networkOf(blockchain)
  if (network?.environment === 'TEST') return network
  const remedy = suggest(blockchain, defaultBlockchains) || `: choose from ${defaultBlockchains.join(', ')}`
  throw new Error(`${option} must name test networks, not "${blockchain}"${remedy}`)
}
