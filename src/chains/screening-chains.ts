import { parseAddressOf } from './address.ts'
import {
  type Blockchain,
  blockchains,
  environmentOf,
  familyOf,
  isBlockchain,
  isVirtual,
} from './blockchains.ts'
import type { AddressFamily } from './network.ts'
import { screenedOnly } from './screened-only.ts'

export type ScreeningChain = Blockchain | keyof typeof screenedOnly

/** Every chain of address screening: those of the interface, and the other blockchains of this server. */
export const screeningChains: readonly ScreeningChain[] = [
  ...blockchains.filter((blockchain) => !isVirtual(blockchain)),
  ...(Object.keys(screenedOnly) as (keyof typeof screenedOnly)[]),
]

export const isScreeningChain = (name: string): name is ScreeningChain =>
  isBlockchain(name) || Object.hasOwn(screenedOnly, name)

/** An address as lists name it: families whose addresses belong to the same keys are one `space`. */
export type ScreenedAddress = { space: AddressFamily; address: string }

const spaces: Partial<Record<AddressFamily, AddressFamily>> = {
  bitcoinCash: 'bitcoin',
  bitcoinSv: 'bitcoin',
  xdc: 'evm',
}

export const addressIn = (family: AddressFamily, address: string): ScreenedAddress => ({
  space: spaces[family] ?? family,
  address,
})

/** The address in canonical form and its space, or `undefined` when it is invalid on that chain. Never throws. */
export function parseScreenedAddress(chain: ScreeningChain, text: string): ScreenedAddress | undefined {
  const [family, environment] = isBlockchain(chain)
    ? [familyOf(chain), environmentOf(chain)]
    : [screenedOnly[chain], 'LIVE' as const]
  const address = parseAddressOf(family, text, environment)
  return address === undefined ? undefined : addressIn(family, address)
}

export const isTestChain = (chain: ScreeningChain): boolean =>
  isBlockchain(chain) && environmentOf(chain) === 'TEST'
