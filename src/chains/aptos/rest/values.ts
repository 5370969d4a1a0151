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

export function truth(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw new NodeUnreachable(`the node's ${what} is neither true nor false`)
}

export type NodeFields = Readonly<Record<string, unknown>>

export function nodeFields(value: unknown, what: string): NodeFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as NodeFields
  throw new NodeUnreachable(`the node's ${what} is not an object`)
}

export function listOfFields(value: unknown, what: string): NodeFields[] {
  if (Array.isArray(value)) return value.map((each) => nodeFields(each, what))
  throw new NodeUnreachable(`the node's ${what} is not a list`)
}
