import type { NetworkOf } from '../network.ts'

export const zks: NetworkOf<'ZKS'> = {
  blockchain: 'ZKS',
  family: 'evm',
  environment: 'LIVE',
  chainId: 324,
  name: 'ZKsync-Era',
  nativeToken: {
    id: 'cea96046-adea-57db-bfc0-0900aad881f5',
    name: 'ZKsync-Era',
    symbol: 'ETH',
    decimals: 18,
  },
  tokens: [
    {
      id: 'a18161cf-a1e9-555f-a7ff-77111b3f1199',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0x1d17CBcF0D6D143135aE902365D2E5e2A16538D4',
    },
  ],
  // Sixty-five blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 3900,
  businessAccountOnly: true,
  createsElsewhere: true,
  businessChain: 'ZKS',
  feeModel: 'eip1559',
  inFlightMax: 16,
  blockTimeMs: 200,
}
