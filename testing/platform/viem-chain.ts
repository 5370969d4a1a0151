import { defineChain } from 'viem'
import { baseSepolia } from '#chains/networks/base-sepolia'

/** A network for a client of viem. The package's own chains are hundreds in a module that takes a second to load. */
export const viemChainOf = ({ chainId, blockchain }: { chainId: number; blockchain: string }) =>
  defineChain({
    id: chainId,
    name: blockchain,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })

/** BASE-SEPOLIA. */
export const viemChain = viemChainOf(baseSepolia)
