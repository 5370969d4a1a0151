import type { Ref, ReviewedValue } from '#engines/transactions/index'
import { type Db, raw, sql } from '#runtime/db/db'
import type { DepositKind, DepositReview } from '../types.ts'

const kept = {
  payment: { table: raw('payments'), coming: 'pending' },
  transfer: { table: raw('transfers'), coming: 'running' },
} as const

export const blockchainOfDeposit = async (db: Db, kind: DepositKind, { entityId, id }: Ref) =>
  (
    await db.one<{ blockchain: string }>(
      sql`select blockchain from ${kept[kind].table} where entity_id = ${entityId} and id = ${id}`,
    )
  ).blockchain

const shownColumns = {
  payment: raw('d.merchant_wallet_id as wallet_id, d.deposit_address as destination_address'),
  transfer: raw('d.wallet_id, d.to_address as destination_address'),
} as const

export const valuesOfDeposits = (db: Db, kind: DepositKind, entityId: string, ids: readonly string[]) =>
  db.all<ReviewedValue>(sql`select d.id, d.blockchain, trim_scale(d.amount / 10::numeric ^ d.decimals)::text as amount,
      d.token_id, d.from_address as source_address, ${shownColumns[kind]}
    from ${kept[kind].table} d where d.entity_id = ${entityId} and d.id = any(${ids}::uuid[])`)

/** Locks a deposit that is under review or was denied. False where the review was withdrawn. */
export const lockUncredited = async (tx: Db, kind: DepositKind, { entityId, id }: Ref): Promise<boolean> =>
  (await tx.maybe(sql`select from ${kept[kind].table}
    where entity_id = ${entityId} and id = ${id} and review in ('pending', 'denied') for update`)) !==
  undefined

/** The error code of deposits that were denied. */
export const deniedCode = 'transaction_denied'

/** Records the decision: an approved deposit waits for its confirmations again, and a denied one fails. */
export const setDepositReview = (
  tx: Db,
  kind: DepositKind,
  { entityId, id }: Ref,
  review: Exclude<DepositReview, 'pending'>,
  at: string,
) =>
  tx.run(sql`update ${kept[kind].table} set review = ${review}, update_date = ${at},
      status = ${review === 'denied' ? 'failed' : kept[kind].coming},
      error_code = ${review === 'denied' ? deniedCode : null}
    where entity_id = ${entityId} and id = ${id}`)
