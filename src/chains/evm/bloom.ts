import { hexToBytes, keccak256 } from 'viem'
import type { Hex } from '#lib/hex'

const bloomPattern = /^0x[0-9a-fA-F]{512}$/

/**
 * Whether a block's bloom filter allows that it holds a log of `emitter` with `topic`. False is certain, true is not.
 * Without a proper filter (some rollups leave it empty of meaning) nothing is said, so nothing is claimed.
 */
export function bloomMayHold(bloom: unknown, emitter: Hex, topic: Hex): boolean {
  if (typeof bloom !== 'string' || !bloomPattern.test(bloom)) return false
  const bits = hexToBytes(bloom as Hex)
  return [emitter, topic].every((item) => placesOf(item).every((place) => isSet(bits, place)))
}

const known = new Map<Hex, readonly number[]>()

/** The three bits of 2,048 that an item sets: the low 11 bits of the first three pairs of bytes of its hash. */
function placesOf(item: Hex): readonly number[] {
  const before = known.get(item)
  if (before) return before
  const hashed = keccak256(item, 'bytes')
  const places = [0, 2, 4].map((at) => ((hashed[at]! << 8) | hashed[at + 1]!) & 2047)
  // Only tokens and one topic are asked about, so this stays small.
  known.set(item, places)
  return places
}

const isSet = (bits: Uint8Array, place: number) => ((bits[255 - (place >> 3)]! >> (place & 7)) & 1) === 1
