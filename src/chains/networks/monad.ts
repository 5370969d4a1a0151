import type { NetworkOf } from '../network.ts'

export const monad: NetworkOf<'MONAD'> = {
  blockchain: 'MONAD',
  family: 'evm',
  environment: 'LIVE',
  chainId: 143,
  name: 'Monad',
  nativeToken: { id: 'dc80b7cf-5e4a-5a74-b733-ed65e62ec343', name: 'Monad', symbol: 'MON', decimals: 18 },
  tokens: [
    {
      id: '6a52bb4d-4c99-5903-93de-5cccade2f085',
      symbol: 'USDC',
      name: 'USDC',
      currency: 'USD',
      decimals: 6,
      address: '0x754704Bc059F8C67012fEd69BC8A327a5aafb603',
    },
  ],
  confirmations: 4,
  domain: 15,
  fastConfirmations: 1,
  businessChain: 'MONAD',
  rpcPath: 'monad',
  feeModel: 'eip1559',
  chargesGasLimit: true,
  inFlightMax: 16,
  blockTimeMs: 400,
}
