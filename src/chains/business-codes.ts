import type { AddressFamily } from './network.ts'

export type BusinessCurrency = 'USD' | 'EUR'

/** Limits of the memo or tag that distinguishes recipients who share an address. */
export const addressTags = {
  memo28: { fits: (tag: string) => Buffer.byteLength(tag) <= 28, reason: 'must have at most 28 bytes' },
  memo100: { fits: (tag: string) => Buffer.byteLength(tag) <= 100, reason: 'must have at most 100 bytes' },
  uint32: {
    fits: (tag: string) => /^(0|[1-9]\d{0,9})$/.test(tag) && Number(tag) < 2 ** 32,
    reason: 'must be a whole number up to 4294967295',
  },
}

export type BusinessCode = {
  addresses: AddressFamily
  /** Currencies that the issuer has issued there: USD as USDC, EUR as EURC. */
  currencies: readonly BusinessCurrency[]
  /** Whether the address book takes recipients there. */
  addressBook?: true
  tag?: keyof typeof addressTags
}

const usd = ['USD'] as const
const both = ['USD', 'EUR'] as const

/**
 * Every chain code of the business-account API: adding one is adding a line. `networkOfBusinessChain` says which network
 * a code names; on codes without one, addresses validate and can be stored, but nothing can be sent or received there.
 */
export const businessCodes = {
  ALGO: { addresses: 'algorand', currencies: usd, addressBook: true },
  APTOS: { addresses: 'aptos', currencies: usd, addressBook: true },
  ARB: { addresses: 'evm', currencies: usd, addressBook: true },
  ARC: { addresses: 'evm', currencies: both, addressBook: true },
  AVAX: { addresses: 'evm', currencies: both, addressBook: true },
  BASE: { addresses: 'evm', currencies: both, addressBook: true },
  BTC: { addresses: 'bitcoin', currencies: [] },
  CELO: { addresses: 'evm', currencies: usd, addressBook: true },
  CODEX: { addresses: 'evm', currencies: usd, addressBook: true },
  CRONOS: { addresses: 'evm', currencies: both, addressBook: true },
  EDGE: { addresses: 'evm', currencies: usd, addressBook: true },
  ETH: { addresses: 'evm', currencies: both, addressBook: true },
  HBAR: { addresses: 'hedera', currencies: usd, addressBook: true, tag: 'memo100' },
  HYPEREVM: { addresses: 'evm', currencies: usd, addressBook: true },
  INJECTIVE: { addresses: 'evm', currencies: usd, addressBook: true },
  INK: { addresses: 'evm', currencies: usd, addressBook: true },
  LINEA: { addresses: 'evm', currencies: usd, addressBook: true },
  MONAD: { addresses: 'evm', currencies: usd, addressBook: true },
  MORPH: { addresses: 'evm', currencies: usd, addressBook: true },
  NEAR: { addresses: 'near', currencies: usd, addressBook: true },
  NOBLE: { addresses: 'noble', currencies: usd, addressBook: true },
  OP: { addresses: 'evm', currencies: usd, addressBook: true },
  PAH: { addresses: 'polkadot', currencies: usd, addressBook: true },
  PHAROS: { addresses: 'evm', currencies: usd, addressBook: true },
  PLASMA: { addresses: 'evm', currencies: both, addressBook: true },
  PLUME: { addresses: 'evm', currencies: usd, addressBook: true },
  POLY: { addresses: 'evm', currencies: usd, addressBook: true },
  SEI: { addresses: 'evm', currencies: usd, addressBook: true },
  SOL: { addresses: 'solana', currencies: both, addressBook: true },
  SONIC: { addresses: 'evm', currencies: usd, addressBook: true },
  SUI: { addresses: 'sui', currencies: usd, addressBook: true },
  UNI: { addresses: 'evm', currencies: usd, addressBook: true },
  WORLDCHAIN: { addresses: 'evm', currencies: both, addressBook: true },
  XDC: { addresses: 'xdc', currencies: usd, addressBook: true },
  XLAYER: { addresses: 'evm', currencies: usd, addressBook: true },
  XLM: { addresses: 'stellar', currencies: both, addressBook: true, tag: 'memo28' },
  XRP: { addresses: 'xrpl', currencies: usd, addressBook: true, tag: 'uint32' },
  ZKS: { addresses: 'evm', currencies: usd, addressBook: true },
  ZKSYNC: { addresses: 'evm', currencies: usd },
} as const satisfies Record<string, BusinessCode>
