import type { NetworkOf } from '../network.ts'

export const op: NetworkOf<'OP'> = {
  blockchain: 'OP',
  family: 'evm',
  environment: 'LIVE',
  chainId: 10,
  name: 'Optimism',
  nativeToken: { id: 'fab1106a-36e2-500e-92f7-ec5e018df9fe', name: 'Optimism', symbol: 'ETH', decimals: 18 },
  tokens: [
    {
      id: 'b1ef9f16-254e-5115-9e1d-b97dd6eadfb9',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
    },
  ],
  // Twelve blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 72,
  domain: 2,
  fastConfirmations: 1,
  businessChain: 'OP',
  rpcPath: 'optimism',
  unifiedBalance: { chain: 'OP', network: 'Mainnet' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'op',
  blockTimeMs: 2000,
}
