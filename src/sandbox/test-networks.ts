import { type Network, type NetworkName, networkOf, networks } from '#chains/networks/index'
import { suggest } from '#lib/suggest'
import { whyNotHere } from './chains/abilities.ts'

const testNetworks = networks.filter(({ environment }) => environment === 'TEST')
const testBlockchains = testNetworks.map(({ blockchain }) => blockchain)
const defaultBlockchains = testNetworks
  .filter(({ startsWhenNamed }) => !startsWhenNamed)
  .map(({ blockchain }) => blockchain)

/** The chains that start when none are named: those that this machine has what they need for. */
export function startedByDefault(): NetworkName[] {
  const left = leftOut().map(({ blockchain }) => blockchain)
  return defaultBlockchains.filter((blockchain) => !left.includes(blockchain))
}

/** The chains that are left out unless they are named, and the reason. */
export function leftOut(): { blockchain: NetworkName; reason: string }[] {
  return defaultBlockchains.flatMap((blockchain) => {
    const reason = whyNotHere(blockchain)
    return reason === undefined ? [] : [{ blockchain, reason }]
  })
}

/** Returns a network that a sandbox can run; throws for any other, with the option that names it. */
export function requireTestNetwork(blockchain: string, option: string): Network {
  const network = networkOf(blockchain)
  if (network?.environment === 'TEST') return network
  const remedy = suggest(blockchain, testBlockchains) || `: choose from ${testBlockchains.join(', ')}`
  throw new Error(`${option} must name test networks, not "${blockchain}"${remedy}`)
}
