import { localEurcAddress, type NetworkOf } from '../network.ts'

export const zksSepolia: NetworkOf<'ZKS-SEPOLIA'> = {
  blockchain: 'ZKS-SEPOLIA',
  family: 'evm',
  environment: 'TEST',
  chainId: 300,
  name: 'ZKsync-Era-Sepolia',
  nativeToken: {
    id: '944283dd-d908-538c-9984-c402a218db0a',
    name: 'ZKsync-Era-Sepolia',
    symbol: 'ETH-SEPOLIA',
    decimals: 18,
  },
  tokens: [
    {
      id: '80d10844-393f-5122-b5fb-53a5deb93455',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0xAe045DE5638162fa134807Cb558E15A3F5A7F853',
    },
    {
      id: '17fe47c6-17eb-5432-82ce-f1881c2e0cd9',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localEurcAddress,
      localOnly: true,
    },
  ],
  // Sixty-five blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 3900,
  businessAccountOnly: true,
  createsElsewhere: true,
  businessChain: 'ZKS',
  feeModel: 'eip1559',
  inFlightMax: 16,
  blockTimeMs: 200,
}
