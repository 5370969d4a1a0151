import type { NetworkOf } from '../network.ts'

export const ethSepolia: NetworkOf<'ETH-SEPOLIA'> = {
  blockchain: 'ETH-SEPOLIA',
  family: 'evm',
  environment: 'TEST',
  chainId: 11_155_111,
  name: 'Ethereum-Sepolia',
  nativeToken: {
    id: '979869da-9115-5f7d-917d-12d434e56ae7',
    name: 'Ethereum-Sepolia',
    symbol: 'ETH-SEPOLIA',
    decimals: 18,
  },
  tokens: [
    {
      id: '5797fbd6-3795-519d-84ca-ec4c5f80c3b1',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
    },
    {
      id: 'c22b378a-843a-59b6-aaf5-bcba622729e6',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: '0x08210F9170F89Ab7658F0B5E3fF39b0E03C594D4',
    },
  ],
  confirmations: 12,
  finalityDepth: 96,
  domain: 0,
  fastConfirmations: 2,
  businessChain: 'ETH',
  unifiedBalance: { chain: 'Ethereum', network: 'Sepolia' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  pendingMax: 32,
  blockTimeMs: 12000,
}
