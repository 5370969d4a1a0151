import type { NetworkOf } from '../network.ts'

export const linea: NetworkOf<'LINEA'> = {
  blockchain: 'LINEA',
  family: 'evm',
  environment: 'LIVE',
  chainId: 59_144,
  name: 'Linea',
  nativeToken: {
    id: 'b73e7d6e-30f0-52d5-b363-5654ba9dff63',
    name: 'Linea',
    symbol: 'ETH',
    decimals: 18,
  },
  tokens: [
    {
      id: 'cd051ad8-61ff-5bbc-a329-c36ae916736b',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0x176211869cA2b568f2A7D4EE941E073a821EE1ff',
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
