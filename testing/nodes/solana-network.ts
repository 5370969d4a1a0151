import type { Network } from '#chains/networks/index'

/** The test network of Solana, which this program connects to no node of yet. */
export const solanaNetwork = {
  blockchain: 'SOL-DEVNET',
  family: 'solana',
  environment: 'TEST',
  chainId: 103,
  name: 'Solana-Devnet',
  nativeToken: {
    id: 'ecf919b4-517f-5fde-b82b-393d1092e5fc',
    name: 'Solana-Devnet',
    symbol: 'SOL-DEVNET',
    decimals: 9,
  },
  tokens: [
    {
      id: '8fb3cadb-0ef4-573d-8fcd-e194f961c728',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    },
  ],
  confirmations: 33,
  domain: 5,
  businessChain: 'SOL',
  eip1559: false,
  inFlightMax: 1_000,
  blockTimeMs: 400,
} as unknown as Network
