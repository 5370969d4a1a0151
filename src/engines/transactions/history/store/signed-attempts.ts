import { type Db, sql } from '#runtime/db/db'

/** A transaction that was signed for an accepted one, without its bytes. Prices are in base units of the native coin. */
export type SignedAttempt = {
  id: string
  transactionId: string
  address: string
  nonce: number
  kind: 'original' | 'bump' | 'cancel' | 'noop'
  txHash: string
  state: 'signed' | 'sent' | 'mined' | 'replaced' | 'rejected' | 'displaced'
  replacesId: string | null
  maxFeeAtomic: bigint
  broadcastCount: number
  lastError: string | null
  recordedAt: string
  /** When a node took it first. */
  acceptedAt: string | null
}

/** All that was signed for these transactions, oldest first. */
export const signedAttempts = (db: Db, entityId: string, transactionIds: readonly string[]) =>
  db.all<SignedAttempt>(sql`select a.id, a.transaction_id, a.address, a.nonce, a.kind, a.tx_hash, a.state, a.replaces_id,
      a.max_fee as max_fee_atomic, a.broadcast_count, a.last_error,
      coalesce(a.recorded_at, a.create_date) as recorded_at, a.accepted_at
    from attempts a where a.entity_id = ${entityId} and a.transaction_id = any(${transactionIds}::uuid[])
    order by a.create_date, a.id`)

/** The user operation of a smart account's transaction, and the treasury's transaction that carries it. */
export const carriedOperation = (db: Db, entityId: string, id: string) =>
  db.maybe<{ userOpHash: string; state: string; bundleId: string | null; endReason: string | null }>(
    sql`select user_op_hash, state, bundle_id, end_reason from operations
      where entity_id = ${entityId} and id = ${id}`,
  )
