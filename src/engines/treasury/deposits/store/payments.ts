import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'
import {
  bigint,
  integer,
  jsonb,
  nullable,
  numeric,
  type RowOf,
  table,
  text,
  textOf,
  timestamptz,
  uuid,
} from '#runtime/db/table'
import type { Waiting } from '../../types.ts'
import type { DepositReview } from '../types.ts'
import { requireAll } from './require-all.ts'

export type PaymentStatus = 'pending' | 'confirmed' | 'paid' | 'failed' | 'action_required'

/** A payment with the part of its deposit's key that is independent of the block that holds it. */
export type KeyedPayment = RowOf<typeof payments>

const payments = table('payments', {
  entityId: uuid,
  id: uuid,
  type: textOf<'payment' | 'refund'>(),
  status: textOf<PaymentStatus>(),
  /** Null when it matches no intent: it came too late, or in another currency than requested. */
  paymentIntentId: nullable(uuid),
  merchantWalletId: text,
  currency: text,
  decimals: integer,
  amount: numeric,
  tokenId: uuid,
  chain: text,
  blockchain: text,
  /** Null for a refund: it comes from the merchant. */
  fromAddress: nullable(text),
  /** The destination, for a refund. */
  depositAddress: text,
  /** Null while a refund is not signed. */
  transactionHash: nullable(text),
  /** The ordinal among the transfers of its token to its address in the transaction. Null for a refund. */
  ordinal: nullable(integer),
  /** Null while the block that held it is orphaned, and for a refund. */
  blockHash: nullable(text),
  blockNumber: nullable(bigint),
  review: nullable(textOf<DepositReview>()),
  /** Why a refund was denied. */
  riskReason: nullable(text),
  /** The reason why a refund waits. */
  waiting: nullable(jsonb<Waiting>()),
  createDate: timestamptz,
  updateDate: timestamptz,
})

/**
 * A payment to a deposit address, or a refund to the payer. Amounts are base units with `decimals` digits; dates are
 * formatted for responses.
 */
export type Payment = Omit<KeyedPayment, 'ordinal'>

const columns = payments.without('ordinal').columns('p')

export const insertRefund = (tx: Db, refund: Payment) =>
  tx.run(payments.insert([{ ...refund, ordinal: null }]))

/** Records deposits of a block: inserts new payments, and updates those whose earlier block was orphaned. */
export const savePending = (tx: Db, rows: readonly KeyedPayment[]) =>
  tx.all<Payment>(sql`${payments.insert(rows, 'p')}
    on conflict (entity_id, blockchain, transaction_hash, deposit_address, token_id, ordinal) do update
      set status = case when p.review = 'denied' then 'failed' else 'pending' end,
        review = coalesce(p.review, excluded.review), amount = excluded.amount, from_address = excluded.from_address,
        block_hash = excluded.block_hash, block_number = excluded.block_number,
        update_date = excluded.update_date
    returning ${columns}`)

/** Whether the intent waits for payments that a block holds or held, and whether any is settled. */
export const paymentProgressOf = (tx: Db, entityId: string, paymentIntentId: string) =>
  tx.one<{ open: boolean; settled: boolean }>(sql`select
      coalesce(bool_or(status in ('pending', 'confirmed')), false) as open,
      coalesce(bool_or(status = 'paid'), false) as settled
    from payments where entity_id = ${entityId} and payment_intent_id = ${paymentIntentId} and type = 'payment'`)

const isOpen = raw(`p.status in ('pending', 'confirmed')`)

/** Payments whose block has its confirmations and that wait for no review, oldest first. The caller has the lock of the feed. */
export const finalPayments = (tx: Db, blockchain: string, upToNumber: number) =>
  tx.all<Payment>(sql`select ${columns} from payments p where p.blockchain = ${blockchain} and ${isOpen}
      and p.block_number <= ${upToNumber} and p.block_hash is not null and p.review is distinct from 'pending'
    order by p.id`)

/** Payments orphaned from a block up to `upToNumber` whose transaction no later block includes. */
export const lostPayments = (tx: Db, blockchain: string, upToNumber: number) =>
  tx.all<Payment>(sql`select ${columns} from payments p where p.blockchain = ${blockchain} and ${isOpen}
      and p.block_number <= ${upToNumber} and p.block_hash is null order by p.id`)

export const paymentsOfBlock = (tx: Db, blockchain: string, blockHash: string) =>
  tx.all<Payment>(sql`select ${columns} from payments p
    where p.blockchain = ${blockchain} and p.block_hash = ${blockHash} order by p.id`)

/** Sets the status of open payments. */
export async function setStatus(
  tx: Db,
  payments: readonly Payment[],
  status: PaymentStatus,
  at: string,
): Promise<void> {
  if (payments.length === 0) return
  const count = await tx.run(sql`update payments p set status = ${status}, update_date = ${at}
    where ${among(payments)} and ${isOpen}`)
  requireAll(count, payments)
}

/** Returns payments of a block to `pending`, except denied ones: no canonical block holds them now. */
export async function orphan(
  tx: Db,
  payments: readonly Payment[],
  blockHash: string,
  at: string,
): Promise<void> {
  const count =
    await tx.run(sql`update payments p set status = case when p.review = 'denied' then p.status else 'pending' end,
      block_hash = null, update_date = ${at}
    where ${among(payments)} and p.block_hash = ${blockHash}`)
  requireAll(count, payments)
}

const among = (payments: readonly Payment[]) =>
  sql`(p.entity_id, p.id) in (select * from unnest(${payments.map((payment) => payment.entityId)}::uuid[],
    ${payments.map((payment) => payment.id)}::uuid[]))`

export const findPayment = (db: Db, entityId: string, id: string) =>
  db.maybe<Payment>(sql`select ${columns} from payments p where p.entity_id = ${entityId} and p.id = ${id}`)

/** Ids of an intent's payments and of its refunds, oldest first. */
export async function paymentIdsOf(
  db: Db,
  entityId: string,
  paymentIntentId: string,
): Promise<{ paymentIds: string[]; refundIds: string[] }> {
  const rows = await db.all<{ id: string; type: 'payment' | 'refund' }>(sql`select id, type from payments
    where entity_id = ${entityId} and payment_intent_id = ${paymentIntentId} order by create_date, id`)
  const of = (wanted: 'payment' | 'refund') => rows.filter(({ type }) => type === wanted).map(({ id }) => id)
  return { paymentIds: of('payment'), refundIds: of('refund') }
}

/** The sum of the payments of an intent that blocks hold and that are not settled yet, in base units. */
export const seenAmountOf = async (db: Db, entityId: string, paymentIntentId: string): Promise<bigint> => {
  const { amount } = await db.one<{
    amount: bigint
  }>(sql`select coalesce(sum(amount), 0) as amount from payments
    where entity_id = ${entityId} and payment_intent_id = ${paymentIntentId} and type = 'payment'
      and status in ('pending', 'confirmed') and block_hash is not null`)
  return amount
}

/** Sums the payments to the entity that are not paid yet, by currency, in base units. */
export const unsettledPayments = (db: Db, entityId: string) =>
  db.all<{ currency: string; amount: bigint }>(sql`select currency, sum(amount) as amount from payments
    where entity_id = ${entityId} and status in ('pending', 'confirmed') and block_hash is not null
    group by currency`)

type PaymentFilters = {
  paymentIntentId?: string | undefined
  status?: PaymentStatus | undefined
  /** Set by filters on fields that payments no longer have. */
  matchesNothing?: boolean
}

export function findPayments(
  db: Db,
  entityId: string,
  filters: PaymentFilters,
  page: PageQuery,
): Promise<Page<Payment>> {
  const source: Source = {
    columns,
    from: raw('payments p'),
    alias: 'p',
    scope: sql`p.entity_id = ${entityId}`,
    filters: [
      filters.paymentIntentId === undefined
        ? undefined
        : sql`p.payment_intent_id = ${filters.paymentIntentId}`,
      filters.status && sql`p.status = ${listedWord(filters.status)}`,
      filters.matchesNothing ? raw('false') : undefined,
    ],
  }
  return readPage<Payment>(db, source, page)
}
