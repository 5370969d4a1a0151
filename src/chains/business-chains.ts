import { type AddressFamily, parseAddressOf } from './address.ts'
import { type Environment, tokenAddress } from './network.ts'
import { networkOfBusinessChain } from './networks/index.ts'
import { addressIn, type ScreenedAddress } from './screening-chains.ts'

type BusinessCurrency = 'USD' | 'EUR'

/** Limits of the memo or tag that distinguishes recipients who share an address. */
const tags = {
  memo28: { fits: (tag: string) => Buffer.byteLength(tag) <= 28, reason: 'must have at most 28 bytes' },
  memo100: { fits: (tag: string) => Buffer.byteLength(tag) <= 100, reason: 'must have at most 100 bytes' },
  uint32: {
    fits: (tag: string) => /^(0|[1-9]\d{0,9})$/.test(tag) && Number(tag) < 2 ** 32,
    reason: 'must be a whole number up to 4294967295',
  },
}

type Facts = {
  addresses: AddressFamily
  /** Currencies that the issuer has issued there: USD as USDC, EUR as EURC. */
  currencies: readonly BusinessCurrency[]
  /** Whether the address book takes recipients there. */
  addressBook?: true
  tag?: keyof typeof tags
}

const usd = ['USD'] as const
const both = ['USD', 'EUR'] as const

/**
 * Every chain code of the business-account API: adding one is adding a line. `networkOfBusinessChain` says which network
 * a code names; on codes without one, addresses validate and can be stored, but nothing can be sent or received there.
 */
const facts = {
  ALGO: { addresses: 'algorand', currencies: usd, addressBook: true },
  APTOS: { addresses: 'aptos', currencies: usd, addressBook: true },
  ARB: { addresses: 'evm', currencies: usd, addressBook: true },
  AVAX: { addresses: 'evm', currencies: both, addressBook: true },
  BASE: { addresses: 'evm', currencies: both, addressBook: true },
  BTC: { addresses: 'bitcoin', currencies: [] },
  CELO: { addresses: 'evm', currencies: usd, addressBook: true },
  CODEX: { addresses: 'evm', currencies: usd },
  ETH: { addresses: 'evm', currencies: both, addressBook: true },
  HBAR: { addresses: 'hedera', currencies: usd, addressBook: true, tag: 'memo100' },
  HYPEREVM: { addresses: 'evm', currencies: usd },
  INK: { addresses: 'evm', currencies: usd },
  LINEA: { addresses: 'evm', currencies: usd, addressBook: true },
  MONAD: { addresses: 'evm', currencies: usd, addressBook: true },
  NEAR: { addresses: 'near', currencies: usd, addressBook: true },
  NOBLE: { addresses: 'noble', currencies: usd, addressBook: true },
  OP: { addresses: 'evm', currencies: usd, addressBook: true },
  PAH: { addresses: 'polkadot', currencies: usd, addressBook: true },
  PLUME: { addresses: 'evm', currencies: usd },
  POLY: { addresses: 'evm', currencies: usd, addressBook: true },
  SEI: { addresses: 'evm', currencies: usd },
  SOL: { addresses: 'solana', currencies: both, addressBook: true },
  SONIC: { addresses: 'evm', currencies: usd },
  SUI: { addresses: 'sui', currencies: usd, addressBook: true },
  UNI: { addresses: 'evm', currencies: usd, addressBook: true },
  WORLDCHAIN: { addresses: 'evm', currencies: both },
  XDC: { addresses: 'xdc', currencies: usd },
  XLM: { addresses: 'stellar', currencies: both, addressBook: true, tag: 'memo28' },
  XRP: { addresses: 'xrpl', currencies: usd, addressBook: true, tag: 'uint32' },
  ZKS: { addresses: 'evm', currencies: usd, addressBook: true },
  ZKSYNC: { addresses: 'evm', currencies: usd },
} as const satisfies Record<string, Facts>

export type BusinessChain = keyof typeof facts

const factsOf: Readonly<Record<BusinessChain, Facts>> = facts

export const businessChains = Object.keys(facts) as BusinessChain[]

/** Chains on which the address book takes recipients. */
export const addressBookChains = businessChains.filter((chain) => factsOf[chain].addressBook)

export const currenciesOf = (chain: BusinessChain): readonly BusinessCurrency[] => factsOf[chain].currencies

/** The address in stored form, or `undefined` when it is invalid on that chain in the environment. Never throws. */
export const parseBusinessAddress = (
  chain: BusinessChain,
  text: string,
  environment: Environment,
): string | undefined => parseAddressOf(factsOf[chain].addresses, text, environment)

/** A stored address as lists name it. */
export const screenedBusinessAddress = (chain: BusinessChain, address: string): ScreenedAddress =>
  addressIn(factsOf[chain].addresses, address)

/** Whether coins sent to a valid address would be lost: no account owns it, or it is a token contract. */
export function isUnpayable(chain: BusinessChain, address: string, environment: Environment): boolean {
  if (reservedAddresses[factsOf[chain].addresses]?.test(address)) return true
  const tokens = networkOfBusinessChain(chain, environment)?.tokens ?? []
  return tokens.some((token) => tokenAddress(token) === address)
}

/** Patterns of the zero address and of reserved ones: precompiled contracts, frameworks, and burn addresses. */
const reservedAddresses: Partial<Record<AddressFamily, RegExp>> = {
  evm: /^0x0{36}/,
  xdc: /^0x0{36}/,
  aptos: /^0x(0{63})?[0-9a-f]$/,
  sui: /^0x0{60}/,
  solana: /^1{32}$/,
  algorand: /^A{52}Y5HFKQ$/,
  stellar: /^GA{52}WHF$/,
  xrpl: /^r{20,}/,
}

/** The reason why the chain does not take this tag beside an address, or `undefined` when it does. */
export function addressTagProblem(chain: BusinessChain, tag: string): string | undefined {
  const { tag: kind } = factsOf[chain]
  if (kind === undefined) return `is not used on ${chain}: leave it out`
  return tags[kind].fits(tag) ? undefined : tags[kind].reason
}
