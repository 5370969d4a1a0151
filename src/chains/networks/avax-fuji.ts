import type { NetworkOf } from '../network.ts'

export const avaxFuji: NetworkOf<'AVAX-FUJI'> = {
  blockchain: 'AVAX-FUJI',
  family: 'evm',
  environment: 'TEST',
  chainId: 43113,
  name: 'Avalanche-Fuji',
  nativeToken: {
    id: '8081e871-13ed-5521-b0bb-1f0c442fd036',
    name: 'Avalanche-Fuji',
    symbol: 'AVAX-FUJI',
    decimals: 18,
  },
  tokens: [
    {
      id: 'ff47a560-9795-5b7c-adfc-8f47dad9e06a',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0x5425890298aed601595a70AB815c96711a31Bc65',
    },
    {
      id: 'e24318d0-eeb8-589d-abbd-ed6031af743b',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: '0x5E44db7996c682E92a960b65AC713a54AD815c6B',
    },
  ],
  confirmations: 1,
  domain: 1,
  fastConfirmations: 1,
  businessChain: 'AVAX',
  rpcPath: 'avalancheFuji',
  unifiedBalance: { chain: 'Avalanche', network: 'Fuji' },
  x402Name: 'avalanche-fuji',
  feeModel: 'eip1559',
  inFlightMax: 16,
  pendingMax: 32,
  blockTimeMs: 2000,
}
