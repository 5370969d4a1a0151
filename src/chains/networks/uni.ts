import type { NetworkOf } from '../network.ts'

export const uni: NetworkOf<'UNI'> = {
  blockchain: 'UNI',
  family: 'evm',
  environment: 'LIVE',
  chainId: 130,
  name: 'Unichain',
  nativeToken: { id: '3c932ed1-8767-58ea-b0c3-5216334b615d', name: 'Unichain', symbol: 'ETH', decimals: 18 },
  tokens: [
    {
      id: '643096e8-e4c5-5ee7-a5d5-38c80fdc3f3b',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x078D782b760474a361dDA0AF3839290b0EF57AD6',
    },
  ],
  confirmations: 300,
  domain: 10,
  fastConfirmations: 1,
  businessChain: 'UNI',
  rpcPath: 'unichain',
  unifiedBalance: { chain: 'Unichain', network: 'Mainnet' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'op',
  blockTimeMs: 1000,
}
