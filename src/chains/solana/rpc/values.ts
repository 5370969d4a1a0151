/** Readers of values of a Solana node. Any unexpected value throws `NodeUnreachable`; none is guessed. */
import { decodeBase58 } from '../../addresses/base-encodings.ts'
import { isSolanaAddress } from '../../addresses/solana.ts'
import type { Address } from '../../addresses/types.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'

const u64Max = 2n ** 64n - 1n

/** A number of 64 bits: long ones are text. */
export function lamportsIn(value: unknown, what: string): bigint {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  const isText = typeof value === 'string' && /^\d{1,20}$/.test(value)
  if ((isNumber || isText) && BigInt(value) <= u64Max) return BigInt(value)
  throw new NodeUnreachable(`the node's ${what} is not a number of 64 bits`)
}

export function slotIn(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new NodeUnreachable(`the node's ${what} is not a whole number`)
}

export function base58HashIn(value: unknown, what: string): string {
  if (typeof value === 'string' && isSolanaAddress(value)) return value
  throw new NodeUnreachable(`the node's ${what} is not 32 bytes in base58`)
}

export const accountIn = (value: unknown, what: string): Address => base58HashIn(value, what)

export function base58SignatureIn(value: unknown, what: string): string {
  if (typeof value === 'string' && decodeBase58(value)?.length === 64) return value
  throw new NodeUnreachable(`the node's ${what} is not 64 bytes in base58`)
}
