import type { NetworkOf } from '../network.ts'

export const sol: NetworkOf<'SOL'> = {
  blockchain: 'SOL',
  family: 'solana',
  environment: 'LIVE',
  chainId: 101,
  genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  name: 'Solana',
  nativeToken: {
    id: 'cd89aae2-0302-5136-bcd7-60bf0c9b26d0',
    name: 'Solana',
    symbol: 'SOL',
    decimals: 9,
  },
  tokens: [
    {
      id: '33ca4ef6-2500-5d79-82bf-e3036139cc29',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    },
    {
      id: '64daa122-7fbe-5b9b-b277-e6a8e016219c',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: 'HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr',
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
