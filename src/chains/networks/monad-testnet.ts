import { localEurcAddress, type NetworkOf } from '../network.ts'

export const monadTestnet: NetworkOf<'MONAD-TESTNET'> = {
  blockchain: 'MONAD-TESTNET',
  family: 'evm',
  environment: 'TEST',
  chainId: 10_143,
  name: 'Monad-Testnet',
  nativeToken: {
    id: 'aa200244-1148-5516-af08-4938f1420922',
    name: 'Monad-Testnet',
    symbol: 'MON-TESTNET',
    decimals: 18,
  },
  tokens: [
    {
      id: '17fe0589-b511-546c-9eff-84087524f47e',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x534b2f3A21130d7a60830c2Df862319e593943A3',
    },
    {
      id: 'b755219b-4e83-58fa-a27a-3143a4c29f9a',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: localEurcAddress,
      localOnly: true,
    },
  ],
  confirmations: 4,
  domain: 15,
  fastConfirmations: 1,
  businessChain: 'MONAD',
  rpcPath: 'monadTestnet',
  feeModel: 'eip1559',
  chargesGasLimit: true,
  inFlightMax: 16,
  blockTimeMs: 400,
}
