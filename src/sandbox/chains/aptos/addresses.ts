import { sha3_256 } from '@noble/hashes/sha3'
import { type Hex, hexOf } from '#lib/hex'

export const sha3 = (...parts: readonly Uint8Array[]): Buffer => Buffer.from(sha3_256(Buffer.concat(parts)))

export const longAddress = (bytes: ArrayLike<number>): Hex => hexOf(Uint8Array.from(bytes))

/** Returns the long form of an address of 1 to 64 digits; undefined of any other text. */
export function readLongAddress(text: unknown): Hex | undefined {
  const digits = typeof text === 'string' ? /^(?:0x)?([0-9a-fA-F]{1,64})$/.exec(text)?.[1] : undefined
  return digits === undefined ? undefined : `0x${digits.toLowerCase().padStart(64, '0')}`
}

/** The form in which nodes show addresses: without leading zeros. */
export const shortAddress = (address: string): Hex => `0x${address.slice(2).replace(/^0+(?=.)/, '')}`

/** The bytes of an address in its long form. */
export const addressBytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex')

/** The address of the store that holds an asset of an owner, unless the owner opens others. */
export const primaryStoreOf = (owner: string, metadata: string): Hex =>
  hexOf(sha3(addressBytes(owner), addressBytes(metadata), Buffer.from([0xfc])))

export const coreAddress = readLongAddress('0x1')!
export const zeroAccount = readLongAddress('0x0')!
