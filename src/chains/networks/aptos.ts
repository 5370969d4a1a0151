import type { NetworkOf } from '../network.ts'

export const aptos: NetworkOf<'APTOS'> = {
  blockchain: 'APTOS',
  family: 'aptos',
  environment: 'LIVE',
  chainId: 1,
  name: 'Aptos',
  nativeToken: {
    id: '75a1dee6-71cf-5efa-abe4-dd062fff82a0',
    name: 'Aptos',
    symbol: 'APT',
    decimals: 8,
  },
  tokens: [
    {
      id: '298eebe2-3131-5183-b528-f925f70848d0',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0xbae207659db88bea0cbead6da0ed00aac12edcdda169e591cd41c94180b46f3b',
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
