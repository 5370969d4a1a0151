/** Readers of a node's values. Any unexpected value throws `NodeUnreachable`; none is guessed. */
import type { Hex } from '#lib/hex'
import { canonicalAptosAddress } from '../../addresses/aptos.ts'
import type { Address } from '../../addresses/types.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'

const u64Max = 2n ** 64n - 1n

/** Numbers of 64 bits come as text: as JSON numbers they would lose their last digits. */
export function u64(value: unknown, what: string): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) <= u64Max) return BigInt(value)
  throw new NodeUnreachable(`the node's ${what} is not a number of 64 bits as text`)
}

export function safeNumber(value: unknown, what: string): number {
  const number = Number(u64(value, what))
  if (Number.isSafeInteger(number)) return number
  throw new NodeUnreachable(`the node's ${what} is out of range`)
}

export function hash32(value: unknown, what: string): Hex {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase() as Hex
  throw new NodeUnreachable(`the node's ${what} is not a hash`)
}

/** Nodes leave out leading zeros. */
export const isNodeAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)

export function nodeAddress(value: unknown, what: string): Address {
  if (isNodeAddress(value)) return canonicalAptosAddress(value)
  throw new NodeUnreachable(`the node's ${what} is not an address`)
}
