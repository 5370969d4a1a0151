import type { AddressFamily } from './network.ts'

/** Chains that can only be screened, by their code. Each code means the main network. */
export const screenedOnly = {
  ALGO: 'algorand',
  ATOM: 'cosmos',
  HBAR: 'hedera',
  TRX: 'tron',
  XLM: 'stellar',
  BCH: 'bitcoinCash',
  BTC: 'bitcoin',
  BSV: 'bitcoinSv',
  ETC: 'evm',
  LTC: 'litecoin',
  XMR: 'monero',
  XRP: 'xrpl',
  // A token on Ethereum.
  ZRX: 'evm',
  DOT: 'polkadot',
} as const satisfies Record<string, AddressFamily>
