import type { NetworkOf } from '../network.ts'

const id = '15dc2b5d-0994-58b0-bf8c-3a0501148ee8'

/** Its native coin is USDC, which is one coin with one balance, however it moves. */
export const arcTestnet: NetworkOf<'ARC-TESTNET'> = {
  blockchain: 'ARC-TESTNET',
  family: 'evm',
  environment: 'TEST',
  chainId: 5_042_002,
  name: 'Arc-Testnet',
  nativeToken: {
    id,
    name: 'USDC',
    symbol: 'USDC',
    decimals: 18,
    contract: {
      id,
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x3600000000000000000000000000000000000000',
    },
  },
  tokens: [
    {
      id: '4ea52a96-e6ae-56dc-8336-385bb238755f',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: '0x89B50855Aa3bE2F677cD6303Cec089B5F319D72a',
    },
  ],
  confirmations: 1,
  domain: 26,
  fastConfirmations: 1,
  businessChain: 'ARC',
  startsWhenNamed: true,
  rpcPath: 'arcTestnet',
  unifiedBalance: { chain: 'Arc', network: 'Testnet' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  blockTimeMs: 500,
}
