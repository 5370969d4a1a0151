import { localEurcAddress, type NetworkOf } from '../network.ts'

export const opSepolia: NetworkOf<'OP-SEPOLIA'> = {
  blockchain: 'OP-SEPOLIA',
  family: 'evm',
  environment: 'TEST',
  chainId: 11_155_420,
  name: 'Optimism-Sepolia',
  nativeToken: {
    id: '29e77596-4943-52f8-86e5-b0fba0bd9b35',
    name: 'Optimism-Sepolia',
    symbol: 'ETH-SEPOLIA',
    decimals: 18,
  },
  tokens: [
    {
      id: '24e1835e-0654-5b27-abe2-ea77236855da',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x5fd84259d66Cd46123540766Be93DFE6D43130D7',
    },
    {
      id: 'c2dfe314-4762-5f65-8c5d-e9076f8458fb',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localEurcAddress,
      localOnly: true,
    },
  ],
  // Twelve blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 72,
  domain: 2,
  fastConfirmations: 1,
  businessChain: 'OP',
  rpcPath: 'optimismSepolia',
  unifiedBalance: { chain: 'OP', network: 'Sepolia' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'op',
  blockTimeMs: 2000,
}
