import type { Chains } from './chain.ts'

/**
 * Inspects the endpoints of all chains: through a node of another network, the program would look for money, and send it,
 * in the wrong place. Throws when every endpoint is refused. One that does not answer is not refused.
 */
export async function inspectChains(chains: Chains): Promise<void> {
  const refused = (await Promise.all(chains.list().map((chain) => chain.endpoints.inspect()))).flat()
  const endpoints = chains.list().flatMap((chain) => chain.endpoints.hosts)
  if (refused.length === 0 || refused.length < endpoints.length) return
  const words = refused.map(({ blockchain, endpoint, reason }) => `${blockchain} at ${endpoint}: ${reason}`)
  throw new Error(`no endpoint of BEZANT_NETWORKS can be used: ${words.join('; ')}`)
}
