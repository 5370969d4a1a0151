import { localEurcAddress, type NetworkOf } from '../network.ts'

export const uniSepolia: NetworkOf<'UNI-SEPOLIA'> = {
  blockchain: 'UNI-SEPOLIA',
  family: 'evm',
  environment: 'TEST',
  chainId: 1301,
  name: 'Unichain-Sepolia',
  nativeToken: {
    id: 'd89bca63-2469-5855-96bf-cb6e182dc823',
    name: 'Unichain-Sepolia',
    symbol: 'ETH-SEPOLIA',
    decimals: 18,
  },
  tokens: [
    {
      id: '9c0c0d35-1f1b-5687-8262-b7a68c7a3b53',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x31d0220469e10c4E71834a79b1f276d740d3768F',
    },
    {
      id: '0e2ae6ca-fb38-5248-8520-5760d2a7b569',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localEurcAddress,
      localOnly: true,
    },
  ],
  confirmations: 300,
  domain: 10,
  fastConfirmations: 1,
  businessChain: 'UNI',
  rpcPath: 'unichainSepolia',
  unifiedBalance: { chain: 'Unichain', network: 'Sepolia' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'op',
  blockTimeMs: 1000,
}
