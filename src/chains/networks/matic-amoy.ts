import { localEurcAddress, type NetworkOf } from '../network.ts'

export const maticAmoy: NetworkOf<'MATIC-AMOY'> = {
  blockchain: 'MATIC-AMOY',
  family: 'evm',
  environment: 'TEST',
  chainId: 80002,
  name: 'Polygon-Amoy',
  nativeToken: {
    id: '0c8f8485-f74f-5e28-80f2-3cc4e80ef71c',
    name: 'Polygon-Amoy',
    symbol: 'POL-AMOY',
    decimals: 18,
  },
  tokens: [
    {
      id: '36b6931a-873a-56a8-8a27-b706b17104ee',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582',
    },
    {
      id: '54722a59-5e1e-5097-8775-c7cc3710333a',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localEurcAddress,
      localOnly: true,
    },
  ],
  confirmations: 2,
  finalityDepth: 256,
  domain: 7,
  fastConfirmations: 13,
  businessChain: 'POLY',
  rpcPath: 'polygonAmoy',
  unifiedBalance: { chain: 'Polygon', network: 'Amoy' },
  x402Name: 'polygon-amoy',
  feeModel: 'eip1559',
  inFlightMax: 16,
  pendingMax: 16,
  // The lowest fee that nodes of this network accept (PIP-35); their own suggestion is below it after empty blocks.
  priorityFloorAtomic: 25_000_000_000n,
  blockTimeMs: 2000,
}
