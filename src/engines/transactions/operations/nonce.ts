import type { ObservedOperation } from '#engines/indexer/observed/index'
import type { Ref } from '../store/transactions.ts'

/** The low bits of a nonce count the operations of one key; all above them are the key. */
const sequenceBits = 64n

/**
 * The nonce of the operation of a transaction: a key of its own, made from the transaction's id. The EntryPoint executes one
 * operation of each nonce, so that whatever is signed again, or restored from a backup, has its effect once.
 */
export const nonceOf = (id: string): bigint => BigInt(`0x${id.replaceAll('-', '')}`) << sequenceBits

/** The transaction that an operation belongs to, if its nonce is one of ours. */
export function transactionOfNonce({
  entityId,
  nonce,
}: Pick<ObservedOperation, 'entityId' | 'nonce'>): Ref | undefined {
  if (nonce & ((1n << sequenceBits) - 1n)) return undefined
  const digits = (nonce >> sequenceBits).toString(16).padStart(32, '0')
  if (digits.length > 32) return undefined
  const id = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { entityId, id }
}
