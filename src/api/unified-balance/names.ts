import type { UnifiedChain } from '#engines/unified-balance/index'

/** Names of chains and their test networks, by which clients may tell them apart. */
const names: Readonly<Record<number, readonly [chain: string, testNetwork: string]>> = {
  0: ['Ethereum', 'Sepolia'],
  1: ['Avalanche', 'Fuji'],
  2: ['OP', 'Sepolia'],
  3: ['Arbitrum', 'Sepolia'],
  6: ['Base', 'Sepolia'],
  7: ['Polygon', 'Amoy'],
  10: ['Unichain', 'Sepolia'],
}

export function nameOf({ domain, chain: { network } }: UnifiedChain): { chain: string; network: string } {
  const [chain, testNetwork] = names[domain] ?? [network.name, 'Testnet']
  return { chain, network: network.environment === 'TEST' ? testNetwork : 'Mainnet' }
}
