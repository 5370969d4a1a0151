import { type Blockchain, blockchainFacts, environmentOf, familyOf, isVirtual } from './blockchains.ts'

/** The id of a network by CAIP-2, of the family that has numbers for its chains. */
export const networkIdOf = (blockchain: Blockchain): string =>
  `eip155:${blockchainFacts.find((each) => each.blockchain === blockchain)!.chainId}`

/** The blockchain that has this id by CAIP-2, where the interface has a name for it. */
export const blockchainWithId = (id: string): Blockchain | undefined =>
  blockchainFacts.find(({ blockchain, family }) => family === 'evm' && networkIdOf(blockchain) === id)
    ?.blockchain

/** The blockchain that a transaction with this chain id is for, if a wallet on `blockchain` may sign it: its own, or any of
 * its environment for the virtual ones. */
export function signableChain(blockchain: Blockchain, chainId: number): Blockchain | undefined {
  const found = blockchainFacts.find(
    (each) => each.chainId === chainId && each.family === familyOf(blockchain),
  )?.blockchain
  if (!found || !isVirtual(blockchain)) return found === blockchain ? found : undefined
  return environmentOf(found) === environmentOf(blockchain) ? found : undefined
}
