import type { NetworkOf } from '../network.ts'

export const base: NetworkOf<'BASE'> = {
  blockchain: 'BASE',
  family: 'evm',
  environment: 'LIVE',
  chainId: 8453,
  name: 'Base',
  nativeToken: { id: '692f7d46-b3d2-51ca-95b2-d2372049b314', name: 'Base', symbol: 'ETH', decimals: 18 },
  tokens: [
    {
      id: '915ce944-32df-5df5-a6b1-daa9b5069f96',
      symbol: 'USDC',
      name: 'USD Coin',
      currency: 'USD',
      decimals: 6,
      address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    },
    {
      id: '2abbb338-0536-50bf-9027-0fee10dde7fe',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42',
    },
  ],
  // Twelve blocks of the parent chain (12 s each), counted in this chain's own.
  confirmations: 72,
  domain: 6,
  fastConfirmations: 1,
  businessChain: 'BASE',
  rpcPath: 'base',
  usdcPaymaster: '0x6C973eBe80dCD8660841D4356bf15c32460271C9',
  unifiedBalance: { chain: 'Base', network: 'Mainnet' },
  x402Name: 'base',
  feeModel: 'eip1559',
  inFlightMax: 16,
  l1Fee: 'op',
  blockTimeMs: 2000,
}
