import type { NetworkOf } from '../network.ts'

export const solDevnet: NetworkOf<'SOL-DEVNET'> = {
  blockchain: 'SOL-DEVNET',
  family: 'solana',
  environment: 'TEST',
  chainId: 103,
  genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
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
    {
      id: 'e8f3e7d4-49dc-5147-9c26-58dfba0d9693',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: 'HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr',
      localOnly: true,
    },
  ],
  confirmations: 33,
  finalityDepth: 33,
  domain: 5,
  businessChain: 'SOL',
  feeModel: 'priorityFee',
  tokenStandard: 'Fungible',
  inFlightMax: 1_000,
  replaceable: false,
  blockTimeMs: 400,
}
