import type { NetworkOf } from '../network.ts'

export const baseSepolia: NetworkOf<'BASE-SEPOLIA'> = {
  blockchain: 'BASE-SEPOLIA',
  family: 'evm',
  environment: 'TEST',
  chainId: 84532,
  name: 'Base-Sepolia',
  nativeToken: {
    id: 'f2ab11ae-53fa-5373-86e5-8b38447b65fb',
    name: 'Base Ethereum-Sepolia',
    symbol: 'ETH-SEPOLIA',
    decimals: 18,
  },
  tokens: [
    {
      id: 'bdf128b4-827b-5267-8f9e-243694989b5f',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    },
    {
      id: 'cccbafca-46dc-57e4-9e02-d723e27475f1',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: '0x808456652fdb597867f38412077A9182bf77359F',
    },
  ],
  // Twelve blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 72,
  domain: 6,
  fastConfirmations: 1,
  businessChain: 'BASE',
  rpcPath: 'baseSepolia',
  usdcPaymaster: '0x31BE08D380A21fc740883c0BC434FcFc88740b58',
  unifiedBalance: { chain: 'Base', network: 'Sepolia' },
  x402Name: 'base-sepolia',
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'op',
  blockTimeMs: 2000,
}
