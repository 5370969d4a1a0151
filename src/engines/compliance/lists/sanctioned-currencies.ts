import { parseAddressOf } from '#chains/address'
import type { AddressFamily } from '#chains/network'
import { addressIn } from '#chains/screening-chains'
import type { EntryParser } from './formats.ts'

/** Tokens are on several chains: the address itself says which. Aptos and Sui write theirs alike. */
const tokenFamilies: readonly AddressFamily[] = ['evm', 'tron', 'solana', 'bitcoin', 'aptos', 'sui']

/** The currency codes of sanctions lists, with the forms that their addresses have. */
const families: Readonly<Record<string, readonly AddressFamily[]>> = {
  XBT: ['bitcoin'],
  BTC: ['bitcoin'],
  BCH: ['bitcoinCash'],
  BSV: ['bitcoinSv'],
  LTC: ['litecoin'],
  ETH: ['evm'],
  ETC: ['evm'],
  ARB: ['evm'],
  BSC: ['evm'],
  USDT: tokenFamilies,
  USDC: tokenFamilies,
  TRX: ['tron'],
  SOL: ['solana'],
  APT: ['aptos'],
  SUI: ['sui'],
  NEAR: ['near'],
  XMR: ['monero'],
  XRP: ['xrpl'],
  XLM: ['stellar'],
  ALGO: ['algorand'],
  DOT: ['polkadot'],
}

/** Currencies that are listed without a chain of screening are counted, and not matched. */
export const parseSanctioned: EntryParser = (code, text) => {
  const named = Object.hasOwn(families, code) ? families[code]! : undefined
  if (!named) return /^[A-Z0-9]{2,10}$/.test(code) ? 'unsupported' : 'unknown'
  // A published address in mixed case need not carry a checksum.
  const spelled = /^0x[0-9a-f]{40}$/i.test(text) ? text.toLowerCase() : text
  const found = named.flatMap((family) => {
    const address = parseAddressOf(family, spelled, 'LIVE')
    return address === undefined ? [] : [addressIn(family, address)]
  })
  return found.length > 0 ? found : 'malformed'
}
