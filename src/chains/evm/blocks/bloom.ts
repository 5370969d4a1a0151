import { bytesToHex, keccak256 } from 'viem'
import type { Hex } from '#lib/hex'
import type { ChainLog } from '../../facets/blocks.ts'

const bloomPattern = /^0x[0-9a-fA-F]{512}$/

/** A filter as one number; `undefined` when it is invalid. */
export const bloomValue = (bloom: unknown): bigint | undefined =>
  typeof bloom === 'string' && bloomPattern.test(bloom) ? BigInt(bloom) : undefined

/** The filter of exactly these logs. */
export function bloomOf(logs: readonly Pick<ChainLog, 'address' | 'topics'>[]): bigint {
  const bits = new Uint8Array(256)
  for (const { address, topics } of logs)
    for (const item of [address as Hex, ...topics]) setPlaces(bits, item)
  return BigInt(bytesToHex(bits))
}

/**
 * Whether a filter allows a log of `emitter` with `topic`. With a valid filter, false is certain and true is not.
 * Returns false without a valid filter.
 */
export function bloomMayHold(bloom: unknown, emitter: Hex, topic: Hex): boolean {
  if (typeof bloom !== 'string' || !bloomPattern.test(bloom)) return false
  return [emitter, topic].every((item) => placesOf(item).every((place) => isSet(bloom, place)))
}

const known = new Map<Hex, readonly number[]>()
const knownMax = 20_000

/** The three bits of 2,048 that an item sets: the low 11 bits of the first three pairs of bytes of its hash. */
function placesOf(item: Hex): readonly number[] {
  const before = known.get(item)
  if (before) return before
  const hashed = keccak256(item, 'bytes')
  const places = [0, 2, 4].map((at) => ((hashed[at]! << 8) | hashed[at + 1]!) & 2047)
  // Most items are of few tokens and addresses that recur.
  if (known.size >= knownMax) known.clear()
  known.set(item, places)
  return places
}

/** Bit 0 is the lowest one of the last byte. */
function setPlaces(bits: Uint8Array, item: Hex): void {
  for (const place of placesOf(item)) bits[255 - (place >> 3)]! |= 1 << (place & 7)
}

const isSet = (bloom: string, place: number) =>
  ((Number.parseInt(bloom[2 + 511 - (place >> 2)]!, 16) >> (place & 3)) & 1) === 1
