import type { NetworkOf } from '../network.ts'

export const eth: NetworkOf<'ETH'> = {
  blockchain: 'ETH',
  family: 'evm',
  environment: 'LIVE',
  chainId: 1,
  name: 'Ethereum',
  nativeToken: { id: '1fb6c4d3-ba7b-550d-9fe2-2f33f6417990', name: 'Ethereum', symbol: 'ETH', decimals: 18 },
  tokens: [
    {
      id: 'b037d751-fb22-5f0d-bae6-47373e7ae3e3',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    },
    {
      id: 'aeb2b2e7-7d8a-5f13-8ee4-6f5085d6b8ab',
      symbol: 'EURC',
      name: 'Euro Coin',
      currency: 'EUR',
      decimals: 6,
      address: '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c',
    },
  ],
  confirmations: 12,
  finalityDepth: 96,
  domain: 0,
  fastConfirmations: 2,
  businessChain: 'ETH',
  unifiedBalance: { chain: 'Ethereum', network: 'Mainnet' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  pendingMax: 32,
  blockTimeMs: 12000,
}
