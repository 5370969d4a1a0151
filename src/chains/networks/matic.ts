import type { NetworkOf } from '../network.ts'

export const matic: NetworkOf<'MATIC'> = {
  blockchain: 'MATIC',
  family: 'evm',
  environment: 'LIVE',
  chainId: 137,
  name: 'Polygon',
  nativeToken: { id: 'd1683cbc-c28b-54ee-98da-17d8108c1cc0', name: 'Polygon', symbol: 'MATIC', decimals: 18 },
  tokens: [
    {
      id: 'db6905b9-8bcd-5537-8b08-f5548bdf7925',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    },
  ],
  confirmations: 2,
  finalityDepth: 256,
  domain: 7,
  fastConfirmations: 13,
  businessChain: 'POLY',
  rpcPath: 'polygon',
  unifiedBalance: { chain: 'Polygon', network: 'Mainnet' },
  x402Name: 'polygon',
  feeModel: 'eip1559',
  inFlightMax: 16,
  pendingMax: 16,
  // The lowest fee that nodes of this network accept (PIP-35); their own suggestion is below it after empty blocks.
  priorityFloorAtomic: 25_000_000_000n,
  blockTimeMs: 2000,
}
