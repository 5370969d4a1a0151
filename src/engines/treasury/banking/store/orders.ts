import { type Db, raw, sql } from '#runtime/db/db'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'

/** How far the bank is with a redemption; `sending` is recorded before the order is sent. */
type BankState = 'none' | 'sending' | 'sent' | 'complete' | 'failed' | 'returned'

/** A redemption as the bank knows it. */
export type OrderedRedemption = {
  entityId: string
  id: string
  bankAccountId: string
  blockchain: string
  currency: string
  amount: bigint
  status: 'pending' | 'complete' | 'failed'
  bankState: BankState
  trackingRef: string | null
  externalRef: string | null
  bankErrorCode: string | null
  createDate: string
}

type RedemptionRef = Pick<OrderedRedemption, 'entityId' | 'id'>

const columns =
  raw(`r.entity_id, r.id, r.bank_account_id, r.blockchain, r.currency, r.amount, r.status, r.bank_state,
  r.tracking_ref, r.external_ref, r.bank_error_code, r.create_date`)

/**
 * Claims the next redemption whose coins have left in a block up to `finalTo` and that the bank has not taken yet, for `claimMs`:
 * round-robin over tenants. It is `sending` from then on.
 */
export async function takeRedemptionToSend(
  db: Db,
  turn: Turn,
  blockchain: string,
  finalTo: number,
  claimMs: number,
): Promise<OrderedRedemption | undefined> {
  const claim = {
    from: sql`redemptions r join platform_transactions t using (entity_id, id)`,
    alias: 'r',
    where:
      () => sql`r.blockchain = ${blockchain} and r.status = 'complete' and r.bank_state in ('none', 'sending')
      and r.order_attempt_at <= now() and t.state = 'COMPLETE' and t.block_number <= ${finalTo}`,
    order: sql`r.order_attempt_at, r.id`,
    columns: sql`r.id`,
    change: (entityId: string) =>
      sql`update redemptions r set bank_state = 'sending', order_attempt_at = now() + ${claimMs} * interval '1 millisecond'
        from taken where r.entity_id = ${entityId} and r.id = taken.id returning ${columns}`,
  }
  const [taken] = await claimInTurns<OrderedRedemption>(db, turn, claim, 1)
  return taken
}

/** Defers the order by `ms`. */
export const postponeOrder = (db: Db, { entityId, id }: RedemptionRef, ms: number) =>
  db.run(sql`update redemptions set order_attempt_at = now() + ${ms} * interval '1 millisecond'
    where entity_id = ${entityId} and id = ${id}`)

/** Records that the bank has taken the order. `due`: when a simulated bank decides. */
export const markOrdered = (db: Db, { entityId, id }: RedemptionRef, due: string | null) =>
  db.run(sql`update redemptions set bank_state = 'sent', bank_due = ${due}::timestamptz
    where entity_id = ${entityId} and id = ${id} and bank_state = 'sending'`)

export const lockRedemption = (tx: Db, entityId: string, id: string) =>
  tx.maybe<OrderedRedemption>(sql`select ${columns} from redemptions r where r.entity_id = ${entityId} and r.id = ${id}
    for update`)

/** The answer of the bank about a redemption. */
type BankEnding = {
  bankState: 'complete' | 'failed' | 'returned'
  errorCode: string | null
  returnReason: string | null
  trackingRef: string | null
  externalRef: string | null
}

export const setBankEnding = (tx: Db, { entityId, id }: RedemptionRef, ending: BankEnding, at: string) =>
  tx.run(sql`update redemptions set bank_state = ${ending.bankState}, bank_error_code = ${ending.errorCode},
      return_reason = ${ending.returnReason}, tracking_ref = coalesce(${ending.trackingRef}, tracking_ref),
      external_ref = coalesce(${ending.externalRef}, external_ref), bank_due = null, update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)

/** Sets when a simulated bank decides about the redemption again. */
export const setBankDue = (tx: Db, { entityId, id }: RedemptionRef, due: string) =>
  tx.run(sql`update redemptions set bank_due = ${due} where entity_id = ${entityId} and id = ${id}`)

/** Locks the next redemption that a simulated bank decides about, round-robin over tenants. */
export async function lockDueRedemption(
  tx: Db,
  turn: Turn,
  now: string,
): Promise<OrderedRedemption | undefined> {
  const claim = {
    from: sql`redemptions r`,
    alias: 'r',
    where: () => sql`r.bank_due <= ${now}`,
    order: sql`r.bank_due, r.id`,
    columns,
  }
  const [found] = await claimInTurns<OrderedRedemption>(tx, turn, claim, 1)
  return found
}

/** Locks this redemption, if a simulated bank still has to decide about it. */
export const lockUndecided = (tx: Db, entityId: string, id: string, now: string) =>
  tx.maybe<OrderedRedemption>(sql`select ${columns} from redemptions r where r.entity_id = ${entityId} and r.id = ${id}
    and r.bank_due <= ${now} for update`)

/** Redemptions that the bank of a sandbox decides about. */
export const redemptionDecision: BusinessTimer = {
  name: 'redemptionDecision',
  next: (db, limit) =>
    db.all<DueResource>(sql`select r.id as resource_id, r.bank_due as due_date from redemptions r
      where r.bank_due is not null order by r.bank_due limit ${limit}`),
}
