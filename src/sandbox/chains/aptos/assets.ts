import { localAptosEurcAddress } from '#chains/network'
import type { Hex } from '#lib/hex'
import { readLongAddress, shortName } from './addresses.ts'

/** A fungible asset of the ledger. */
export type FungibleAsset = {
  metadata: Hex
  name: string
  symbol: string
  decimals: number
  /** The type of the coin that is the same asset by an older name. */
  coinType?: string
  /** Whether the issuer denies addresses and pauses transfers, for which every movement is looked at. */
  isRegulated: boolean
}

export const aptosCoinType = '0x1::aptos_coin::AptosCoin'

/** The native asset: `0xa` and the coin of Aptos are one. */
export const apt: FungibleAsset = {
  metadata: readLongAddress('0xa')!,
  name: 'Aptos Coin',
  symbol: 'APT',
  decimals: 8,
  coinType: aptosCoinType,
  isRegulated: false,
}

/** The stablecoin at the address that it has on the test network, so that constants of clients work. */
const usdc: FungibleAsset = {
  metadata: '0x69091fbab5f7d635ee7ac5098cf0c1efbe31d68fec0f2cd565e8d168daf52832',
  name: 'USDC',
  symbol: 'USDC',
  decimals: 6,
  isRegulated: true,
}

/** The issuer has no such token on Aptos. */
const eurc: FungibleAsset = {
  metadata: localAptosEurcAddress,
  name: 'EURC',
  symbol: 'EURC',
  decimals: 6,
  isRegulated: true,
}

export const assets: readonly FungibleAsset[] = [apt, usdc, eurc]

export const assetAt = (metadata: string): FungibleAsset | undefined =>
  assets.find((asset) => asset.metadata === metadata)

export const assetOfCoin = (type: string): FungibleAsset | undefined =>
  assets.find(({ coinType }) => coinType !== undefined && coinType === shortName(type))
