import type { NetworkOf } from '../network.ts'

export const avax: NetworkOf<'AVAX'> = {
  blockchain: 'AVAX',
  family: 'evm',
  environment: 'LIVE',
  chainId: 43114,
  name: 'Avalanche',
  nativeToken: {
    id: 'f169f4ff-3f49-5c62-bea9-6ddae93c3627',
    name: 'Avalanche',
    symbol: 'AVAX',
    decimals: 18,
  },
  tokens: [
    {
      id: '7efdfdbf-1799-5089-a588-31beb97ba755',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    },
    {
      id: '39f8603a-73ea-5e0d-8b03-7f33949c49ca',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: '0xC891EB4cbdEFf6e073e859e987815Ed1505c2ACD',
    },
  ],
  confirmations: 1,
  domain: 1,
  fastConfirmations: 1,
  businessChain: 'AVAX',
  rpcPath: 'avalanche',
  unifiedBalance: { chain: 'Avalanche', network: 'Mainnet' },
  x402Name: 'avalanche',
  feeModel: 'eip1559',
  inFlightMax: 16,
  pendingMax: 32,
  blockTimeMs: 2000,
}
