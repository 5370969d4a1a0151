import type { Chains } from './chain.ts'

/**
 * Has the endpoints of all chains inspected. A node of another network would have money looked for, and sent, in the wrong
 * place. Throws when all are of another one: nothing is left to work on. One that does not answer may only be away.
 */
export async function inspectChains(chains: Chains): Promise<void> {
  const refused = (await Promise.all(chains.list().map((chain) => chain.inspect()))).flat()
  const endpoints = chains.list().flatMap(({ hosts }) => hosts)
  if (refused.length === 0 || refused.length < endpoints.length) return
  const words = refused.map(({ blockchain, endpoint, reason }) => `${blockchain} at ${endpoint}: ${reason}`)
  throw new Error(`no endpoint of BEZANT_NETWORKS is of the network it is given for: ${words.join('; ')}`)
}
