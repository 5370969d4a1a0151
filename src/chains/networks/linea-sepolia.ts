import { localEurcAddress, type NetworkOf } from '../network.ts'

export const lineaSepolia: NetworkOf<'LINEA-SEPOLIA'> = {
  blockchain: 'LINEA-SEPOLIA',
  family: 'evm',
  environment: 'TEST',
  chainId: 59_141,
  name: 'Linea-Sepolia',
  nativeToken: {
    id: '6c128e32-6672-5148-b3c7-746b1be040c8',
    name: 'Linea-Sepolia',
    symbol: 'ETH-SEPOLIA',
    decimals: 18,
  },
  tokens: [
    {
      id: '7462b780-6462-5881-84e0-9502586b49b1',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0xFEce4462D57bD51A6A552365A011b95f0E16d9B7',
    },
    {
      id: '00e1a89b-63ac-5c10-a9e5-836b191c8b7c',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localEurcAddress,
      localOnly: true,
    },
  ],
  // Sixty-five blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 390,
  domain: 11,
  fastConfirmations: 1,
  fastFeeBasisPoints: 14n,
  businessAccountOnly: true,
  businessChain: 'LINEA',
  feeModel: 'eip1559',
  inFlightMax: 16,
  blockTimeMs: 2000,
}
