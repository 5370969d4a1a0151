import { localAptosEurcAddress, type NetworkOf } from '../network.ts'

export const aptosTestnet: NetworkOf<'APTOS-TESTNET'> = {
  blockchain: 'APTOS-TESTNET',
  family: 'aptos',
  environment: 'TEST',
  chainId: 2,
  name: 'Aptos-Testnet',
  nativeToken: {
    id: 'd457a992-b109-50eb-b5aa-9ef4609e81d2',
    name: 'Aptos-Testnet',
    symbol: 'APT-TESTNET',
    decimals: 8,
  },
  tokens: [
    {
      id: 'e3cbdafc-42c3-58cc-ae4c-b31dbb10354c',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x69091fbab5f7d635ee7ac5098cf0c1efbe31d68fec0f2cd565e8d168daf52832',
    },
    {
      id: '755cc333-7a67-5797-a2d2-17c940c803d4',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localAptosEurcAddress,
      localOnly: true,
    },
  ],
  confirmations: 1,
  domain: 9,
  businessChain: 'APTOS',
  feeModel: 'gasPrice',
  tokenStandard: 'FungibleAsset',
  inFlightMax: 100,
  priorityFloorAtomic: 100n,
  blockTimeMs: 250,
}
