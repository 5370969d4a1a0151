import type { Db } from '#runtime/db/db'
import type { Ref } from '../store/transactions.ts'

/**
 * Rows of an engine above this one that the transactions of treasuries are made for. A journal holds them beside their
 * transaction, so that a merge restores both.
 */
export type JournaledResources = {
  /** The rows of these transactions as JSON texts, with the transaction's id. */
  copy(db: Db, transactions: readonly Ref[]): Promise<{ id: string; copy: string }[]>
  /** Restores missing rows, as under way; the end of their transaction decides about theirs. */
  restore(tx: Db, nowMs: number, copies: readonly string[]): Promise<void>
  /** Locks those that have no transaction yet, and fails them. Returns their ids, and those that had failed without one. */
  failUnpaid(tx: Db, nowMs: number, refs: readonly Ref[]): Promise<Set<string>>
}
