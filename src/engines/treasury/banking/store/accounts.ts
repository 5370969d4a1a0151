import { type Page, readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, sql } from '#runtime/db/db'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'

type BankAccountStatus = 'pending' | 'complete' | 'failed'

/** A bank account that an entity has linked. */
export type BankAccount = {
  entityId: string
  id: string
  status: BankAccountStatus
  /** The name of the bank and the last four digits of the number. */
  description: string
  /** The reference that wires from the account carry. */
  trackingRef: string
  fingerprint: string
  billingDetails: Record<string, string>
  bankAddress: Record<string, string>
  createDate: string
  updateDate: string
}

/** The fields of an account that the bank is told. */
type UnsentAccount = BankAccount & { sealedNumber: Buffer }

type AccountRef = Pick<BankAccount, 'entityId' | 'id'>

const columns =
  raw(`a.entity_id, a.id, a.status, a.description, a.tracking_ref, a.fingerprint, a.billing_details, a.bank_address,
  a.create_date, a.update_date`)

export const insertBankAccount = (tx: Db, row: UnsentAccount) =>
  tx.run(sql`insert into bank_accounts (entity_id, id, status, description, tracking_ref, fingerprint, billing_details,
      bank_address, sealed_number, create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.status}, ${row.description}, ${row.trackingRef}, ${row.fingerprint},
      ${JSON.stringify(row.billingDetails)}, ${JSON.stringify(row.bankAddress)}, ${row.sealedNumber}, ${row.createDate},
      ${row.updateDate})`)

/** Counts the accounts of an entity about which the bank has not decided; other requests that link one wait for the `tx`. */
export async function countPendingAccounts(tx: Db, entityId: string): Promise<number> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`bank accounts of ${entityId}`}, 0))`)
  const { count } = await tx.one<{ count: number }>(sql`select count(*)::int as count from bank_accounts
    where entity_id = ${entityId} and status = 'pending'`)
  return count
}

/** Wakes the workers that send orders to the bank when this `tx` commits. */
export const announceOrders = (tx: Db) => tx.run(sql`select pg_notify('bank_orders', '')`)

export const findBankAccount = (db: Db, entityId: string, id: string) =>
  db.maybe<BankAccount>(
    sql`select ${columns} from bank_accounts a where a.entity_id = ${entityId} and a.id = ${id}`,
  )

/** The account whose wires carry this reference. */
export const findAccountByReference = (db: Db, entityId: string, trackingRef: string) =>
  db.maybe<BankAccount>(
    sql`select ${columns} from bank_accounts a where a.entity_id = ${entityId} and a.tracking_ref = ${trackingRef}`,
  )

export const listBankAccounts = (db: Db, entityId: string, page: PageQuery): Promise<Page<BankAccount>> =>
  readPage<BankAccount>(
    db,
    {
      columns,
      from: raw('bank_accounts a'),
      alias: 'a',
      scope: sql`a.entity_id = ${entityId}`,
      filters: [],
    },
    page,
  )

/** Claims the next account that the bank does not have yet, for `claimMs`: round-robin over tenants. */
export async function takeAccountToLink(
  db: Db,
  turn: Turn,
  claimMs: number,
): Promise<UnsentAccount | undefined> {
  const claim = {
    from: sql`bank_accounts a`,
    alias: 'a',
    where: () => sql`a.sealed_number is not null and a.next_attempt_at <= now()`,
    order: sql`a.next_attempt_at, a.id`,
    columns: sql`a.id`,
    change: (entityId: string) =>
      sql`update bank_accounts a set next_attempt_at = now() + ${claimMs} * interval '1 millisecond' from taken
        where a.entity_id = ${entityId} and a.id = taken.id returning ${columns}, a.sealed_number`,
  }
  const [taken] = await claimInTurns<UnsentAccount>(db, turn, claim, 1)
  return taken
}

/** Defers the account by `ms`. */
export const postponeAccount = (db: Db, { entityId, id }: AccountRef, ms: number) =>
  db.run(sql`update bank_accounts set next_attempt_at = now() + ${ms} * interval '1 millisecond'
    where entity_id = ${entityId} and id = ${id}`)

/** Erases the number, which the bank has now. `due`: when a simulated bank decides. */
export const markLinked = (db: Db, { entityId, id }: AccountRef, due: string | null) =>
  db.run(sql`update bank_accounts set sealed_number = null, bank_due = case when status = 'pending' then ${due}::timestamptz end
    where entity_id = ${entityId} and id = ${id} and sealed_number is not null`)

export const lockBankAccount = (tx: Db, entityId: string, id: string, strength: 'update' | 'share') =>
  tx.maybe<BankAccount>(sql`select ${columns} from bank_accounts a where a.entity_id = ${entityId} and a.id = ${id}
    for ${raw(strength)}`)

export const setAccountStatus = (
  tx: Db,
  { entityId, id }: AccountRef,
  status: BankAccountStatus,
  at: string,
) =>
  tx.run(sql`update bank_accounts set status = ${status}, bank_due = null, update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)

/** Locks the next account that a simulated bank decides about, round-robin over tenants. */
export async function lockDueAccount(tx: Db, turn: Turn, now: string): Promise<AccountRef | undefined> {
  const claim = {
    from: sql`bank_accounts a`,
    alias: 'a',
    where: () => sql`a.bank_due <= ${now}`,
    order: sql`a.bank_due, a.id`,
    columns: sql`a.entity_id, a.id`,
  }
  const [found] = await claimInTurns<AccountRef>(tx, turn, claim, 1)
  return found
}

/** Linked accounts that the bank of a sandbox decides about. */
export const bankAccountDecision: BusinessTimer = {
  name: 'bankAccountDecision',
  next: (db, limit) =>
    db.all<DueResource>(sql`select a.id as resource_id, a.bank_due as due_date from bank_accounts a
      where a.bank_due is not null order by a.bank_due limit ${limit}`),
}
