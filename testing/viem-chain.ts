import { defineChain } from 'viem'
import { baseSepolia } from '#chains/networks/base-sepolia'

/** BASE-SEPOLIA for a client of viem. The package's own is one of hundreds in a module that takes a second to load. */
export const viemChain = defineChain({
  id: baseSepolia.chainId,
  name: baseSepolia.blockchain,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})
