import type { NetworkOf } from '../network.ts'

const id = '1413cfdb-9c27-5b98-9a20-9ecdb1416b6a'

/** Its native coin is USDC, which is one coin with one balance, however it moves. */
export const arc: NetworkOf<'ARC'> = {
  blockchain: 'ARC',
  family: 'evm',
  environment: 'LIVE',
  chainId: 5042,
  name: 'Arc',
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
      id: 'a1f441b2-1afc-5373-8103-a5fc3e81d8d5',
      symbol: 'EURC',
      name: 'EURC',
      currency: 'EUR',
      decimals: 6,
      address: '0xbEf5f6d51CB62b58e6A8f77868681825C6fe21c1',
    },
  ],
  confirmations: 1,
  domain: 26,
  fastConfirmations: 1,
  contracts: {
    messageTransmitter: '0x81D40F21F12A8F0E3252Bccb954D722d4c464B64',
    tokenMessenger: '0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d',
  },
  businessChain: 'ARC',
  startsWhenNamed: true,
  rpcPath: 'arc',
  unifiedBalance: { chain: 'Arc', network: 'Mainnet' },
  feeModel: 'eip1559',
  inFlightMax: 16,
  blockTimeMs: 500,
}
