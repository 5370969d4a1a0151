import { hexOf } from '#lib/hex'
import { canonicalAptosAddress } from '../../addresses/aptos.ts'
import type { Address } from '../../addresses/types.ts'
import { addressBytesOfKey, primaryStoreBytes } from './hashes.ts'

/** The asset that is the native coin: as a fungible asset, and as the coin type that it was before. */
export const nativeAsset: Address = '0xa'
export const nativeCoinType = '0x1::aptos_coin::AptosCoin'

export const bytesOfAddress = (address: Address): Buffer =>
  Buffer.from(address.slice(2).padStart(64, '0'), 'hex')

export const addressOfBytes = (bytes: Uint8Array): Address => canonicalAptosAddress(hexOf(bytes))

export const addressOfKey = (publicKey: Uint8Array): Address => addressOfBytes(addressBytesOfKey(publicKey))

/**
 * The address of the store of an account for an asset. Only what is in there is the account's: a stranger can make further stores
 * that an account owns, which wallets do not see.
 */
export const primaryStore = (owner: Address, asset: Address): Address =>
  addressOfBytes(primaryStoreBytes(bytesOfAddress(owner), bytesOfAddress(asset)))
