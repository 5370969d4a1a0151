import { isAlgorandAddress } from './addresses/algorand.ts'
import { aptosAddressForm, isSpecialAptosAddress, parseAptosAddress } from './addresses/aptos.ts'
import { parseBitcoinAddress, parseLegacyAddress } from './addresses/bitcoin.ts'
import { parseBitcoinCashAddress } from './addresses/bitcoin-cash.ts'
import { canonicalAddress } from './addresses/canonical.ts'
import { parseCosmosAddress } from './addresses/cosmos.ts'
import { parseHederaAddress } from './addresses/hedera.ts'
import { parseLitecoinAddress } from './addresses/litecoin.ts'
import { parseMoneroAddress } from './addresses/monero.ts'
import { isNearAddress } from './addresses/near.ts'
import { isPolkadotAddress } from './addresses/polkadot.ts'
import { isReservedSolanaAddress, isSolanaAddress, solanaAddressForm } from './addresses/solana.ts'
import { isStellarAddress } from './addresses/stellar.ts'
import { isSuiAddress } from './addresses/sui.ts'
import { parseTronAddress } from './addresses/tron.ts'
import { isXrplAddress } from './addresses/xrpl.ts'
import { type Blockchain, environmentOf, familyOf } from './blockchains.ts'
import { evmAddressForm, isReservedEvmAddress, parseEvmAddress } from './evm/address.ts'
import { type AddressFamily, type Environment, nativeContract } from './network.ts'
import { networkOf, networks } from './networks/index.ts'

type AddressReader = (text: string, environment: Environment) => string | undefined

const asItIs =
  (isAddress: (text: string, environment: Environment) => boolean): AddressReader =>
  (text, environment) =>
    isAddress(text, environment) ? text : undefined
const lowered =
  (isAddress: (text: string) => boolean): AddressReader =>
  (text) =>
    isAddress(text) ? text.toLowerCase() : undefined

const readers: Record<AddressFamily, AddressReader> = {
  evm: parseEvmAddress,
  solana: asItIs(isSolanaAddress),
  aptos: parseAptosAddress,
  near: asItIs(isNearAddress),
  algorand: asItIs(isAlgorandAddress),
  bitcoin: parseBitcoinAddress,
  bitcoinCash: parseBitcoinCashAddress,
  bitcoinSv: parseLegacyAddress,
  cosmos: (text) => parseCosmosAddress(text, 'cosmos'),
  hedera: parseHederaAddress,
  litecoin: parseLitecoinAddress,
  monero: parseMoneroAddress,
  noble: (text) => parseCosmosAddress(text, 'noble'),
  polkadot: asItIs(isPolkadotAddress),
  stellar: asItIs(isStellarAddress),
  sui: lowered(isSuiAddress),
  tron: parseTronAddress,
  // XDC writes the same twenty bytes with a prefix of its own.
  xdc: (text) => parseEvmAddress(text.replace(/^xdc/, '0x')),
  xrpl: asItIs(isXrplAddress),
}

/** The address in stored form, or `undefined` when it is invalid in this family and environment. Never throws. */
export const parseAddressOf = (
  family: AddressFamily,
  text: string,
  environment: Environment,
): string | undefined => readers[family](text, environment)

/** The address in stored form, or `undefined` when it is invalid on that blockchain. Works for unconnected chains. */
export const parseAddress = (blockchain: Blockchain, text: string): string | undefined =>
  parseAddressOf(familyOf(blockchain), text, environmentOf(blockchain))

/** The same for a blockchain of which only the name is at hand, and which must be a known one. */
export const parseAddressOn = (blockchain: string, text: string): string | undefined =>
  parseAddress(blockchain as Blockchain, text)

/** Facts about the addresses of a family besides how they are read. */
type AddressFacts = { form: string; isReserved(address: string): boolean }
const factsOf: { readonly [name in AddressFamily]?: AddressFacts } = {
  evm: { form: evmAddressForm, isReserved: isReservedEvmAddress },
  aptos: { form: aptosAddressForm, isReserved: isSpecialAptosAddress },
  solana: { form: solanaAddressForm, isReserved: isReservedSolanaAddress },
}

/** Whether the blockchain reserves an address, as it does the contract of its native coin: coins sent there are lost. */
export function isReserved(blockchain: Blockchain, address: string): boolean {
  const network = networkOf(blockchain)
  if (network !== undefined && address === nativeContract(network)) return true
  return factsOf[familyOf(blockchain)]?.isReserved(address) ?? false
}

/** The same for a blockchain of which only the name is at hand, and which must be a known one. */
export const isReservedOn = (blockchain: string, address: string): boolean =>
  isReserved(blockchain as Blockchain, address)

/** Whether some blockchain has the contract of its native coin there: what it moves is no token of that address. */
export const isNativeContract = (address: string): boolean =>
  networks.some((network) => nativeContract(network) === canonicalAddress(address))

/** The words of an error that tell how addresses of a blockchain are written. */
export const addressForm = (blockchain: Blockchain): string =>
  factsOf[familyOf(blockchain)]?.form ?? `an address of ${blockchain}`
