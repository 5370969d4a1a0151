import { parseAddressOf } from './address.ts'
import { addressTags, type BusinessCode, type BusinessCurrency, businessCodes } from './business-codes.ts'
import { type AddressFamily, type Environment, stablecoinsOf, tokenAddress } from './network.ts'
import { networkOfBusinessChain, ownNetworks } from './networks/index.ts'
import { addressIn, type ScreenedAddress } from './screening-chains.ts'

export type BusinessChain = keyof typeof businessCodes

/** The codes of the interface, and those of the operator's networks, in the currencies that they have. */
const factsOf: Readonly<Record<BusinessChain, BusinessCode>> = {
  ...businessCodes,
  ...Object.fromEntries(ownNetworks.map(({ businessChain }) => [businessChain, ownCode(businessChain)])),
}

export const businessChains = Object.keys(factsOf) as BusinessChain[]

function ownCode(code: string): BusinessCode {
  const tokens = ownNetworks.filter(({ businessChain }) => businessChain === code).flatMap(stablecoinsOf)
  const issued = tokens.filter(({ localOnly }) => !localOnly).map(({ currency }) => currency)
  return { addresses: 'evm', currencies: [...new Set(issued)], addressBook: true }
}

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
  const network = networkOfBusinessChain(chain, environment)
  const tokens = network ? stablecoinsOf(network) : []
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
  return addressTags[kind].fits(tag) ? undefined : addressTags[kind].reason
}
