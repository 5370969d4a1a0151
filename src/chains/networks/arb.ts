import type { NetworkOf } from '../network.ts'

export const arb: NetworkOf<'ARB'> = {
  blockchain: 'ARB',
  family: 'evm',
  environment: 'LIVE',
  chainId: 42161,
  name: 'Arbitrum',
  nativeToken: { id: 'c7d59e7d-1b8b-53bc-bdff-c624a6953ab3', name: 'Arbitrum', symbol: 'ETH', decimals: 18 },
  tokens: [
    {
      id: 'c87ffcb4-e2cf-5e67-84c6-388c965d2a66',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    },
  ],
  // Twelve blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 576,
  domain: 3,
  fastConfirmations: 1,
  businessChain: 'ARB',
  rpcPath: 'arbitrum',
  usdcPaymaster: '0x6C973eBe80dCD8660841D4356bf15c32460271C9',
  unifiedBalance: { chain: 'Arbitrum', network: 'Mainnet' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'arb',
  countsParentBlocks: true,
  replaceable: false,
  blockTimeMs: 250,
}
