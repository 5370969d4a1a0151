import type { Hex } from '#lib/hex'
import { NodeUnreachable } from './rpc.ts'

/** Readers of a node's values. Any unexpected value throws `NodeUnreachable`; none is guessed. */

export function quantity(value: unknown, what: string): bigint {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value)
  throw new NodeUnreachable(`the node's ${what} is not a quantity`)
}

export function readInteger(value: unknown, what: string): number {
  const number = Number(quantity(value, what))
  if (Number.isSafeInteger(number)) return number
  throw new NodeUnreachable(`the node's ${what} is out of range`)
}

export function hash(value: unknown, what: string): Hex {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase() as Hex
  throw new NodeUnreachable(`the node's ${what} is not a hash`)
}

export function address(value: unknown, what: string): Hex {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Hex
  throw new NodeUnreachable(`the node's ${what} is not an address`)
}

export function bytes(value: unknown, what: string): Hex {
  if (typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value))
    return value.toLowerCase() as Hex
  throw new NodeUnreachable(`the node's ${what} is not a string of bytes`)
}

export const toQuantity = (value: bigint | number): Hex => `0x${value.toString(16)}`
