import { localEurcAddress, type NetworkOf } from '../network.ts'

export const arbSepolia: NetworkOf<'ARB-SEPOLIA'> = {
  blockchain: 'ARB-SEPOLIA',
  family: 'evm',
  environment: 'TEST',
  chainId: 421_614,
  name: 'Arbitrum-Sepolia',
  nativeToken: {
    id: '9ad91eb5-e152-5d81-b60e-151d5fd2b3d3',
    name: 'Arbitrum Ethereum-Sepolia',
    symbol: 'ETH-SEPOLIA',
    decimals: 18,
  },
  tokens: [
    {
      id: '4b8daacc-5f47-5909-a3ba-30d171ebad98',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
    },
    {
      id: '4e86d689-66e0-5460-8b2d-d4b593abf3a2',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localEurcAddress,
      localOnly: true,
    },
  ],
  // Twelve blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 576,
  domain: 3,
  fastConfirmations: 1,
  businessChain: 'ARB',
  rpcPath: 'arbitrumSepolia',
  usdcPaymaster: '0x31BE08D380A21fc740883c0BC434FcFc88740b58',
  unifiedBalance: { chain: 'Arbitrum', network: 'Sepolia' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'arb',
  countsParentBlocks: true,
  replaceable: false,
  blockTimeMs: 250,
}
