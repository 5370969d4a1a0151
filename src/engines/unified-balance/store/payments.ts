import type { Address } from '#chains/addresses/types'
import type { TimedAuthorization } from '#chains/facets/authorizations'
import type { FailedTransaction, PlatformTransaction } from '#engines/failed-transactions'
import { bytesOf, type Hex } from '#lib/hex'
import { formatInstant } from '#lib/time'
import { readMergedPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import { addChange, type Changes } from './balances.ts'
import { finallyFailed } from './movements.ts'

type UnifiedPaymentState = 'received' | 'batched' | 'confirmed' | 'completed' | 'failed'

/** A payment between depositors of one chain. */
export type UnifiedPayment = {
  id: string
  blockchain: string
  payer: Address
  payee: Address
  amountAtomic: bigint
  nonce: Buffer
  validAfter: bigint
  validBefore: bigint
  state: UnifiedPaymentState
  deliveryId: string
  /** The transaction of its batch, once a block has it. */
  txHash: string | null
  createDate: string
  updateDate: string
}

/** An authorization that a payer signed with its key. */
export type AuthorizedPayment = { blockchain: string; signed: TimedAuthorization; signature: Hex }

const columns = sql`p.id, p.blockchain, p.payer, p.payee, p.amount as amount_atomic, p.nonce, p.valid_after, p.valid_before, p.state,
  p.delivery_id, b.tx_hash, p.create_date, p.update_date`
const from = sql`unified_payments p left join unified_batches b on b.id = p.batch_id`
const payments = sql`select ${columns} from ${from}`

/** The payment of an authorization. */
export const findPaymentFor = (db: Db, { blockchain, signed: { from, nonce } }: AuthorizedPayment) =>
  db.maybe<UnifiedPayment>(
    sql`${payments} where p.blockchain = ${blockchain} and p.payer = ${from} and p.nonce = ${bytesOf(nonce)}`,
  )

export const findUnifiedPayment = (db: Db, id: string) =>
  db.maybe<UnifiedPayment>(sql`${payments} where p.id = ${id}`)

type UnifiedPaymentFilters = {
  payer: string | undefined
  payee: string | undefined
  nonce: Hex | undefined
  state: UnifiedPaymentState | undefined
}

/** A page of the payments on these chains, one at least, that pass all filters. Each chain is read from its own part of an index. */
export const pageUnifiedPayments = (
  db: Db,
  blockchains: readonly string[],
  { payer, payee, nonce, state }: UnifiedPaymentFilters,
  page: PageQuery,
) =>
  readMergedPage<UnifiedPayment>(
    db,
    blockchains.map((blockchain) => ({
      columns,
      from,
      alias: 'p',
      scope: sql`p.blockchain = ${blockchain}`,
      filters: [
        payer === undefined ? undefined : sql`p.payer = ${payer}`,
        payee === undefined ? undefined : sql`p.payee = ${payee}`,
        nonce === undefined ? undefined : sql`p.nonce = ${bytesOf(nonce)}`,
        state === undefined ? undefined : sql`p.state = ${state}`,
      ],
      hasDatedIds: true,
    })),
    page,
  )

/** Inserts a payment unless its authorization has one; whether it did. */
export const insertUnifiedPayment = async (
  tx: Db,
  nowMs: number,
  { id, deliveryId, dueInMs }: { id: string; deliveryId: string; dueInMs: number },
  { blockchain, signed, signature }: AuthorizedPayment,
): Promise<boolean> => {
  const { from, to, amountAtomic, nonce, validAfter, validBefore } = signed
  const now = formatInstant(nowMs)
  const count =
    await tx.run(sql`insert into unified_payments (id, blockchain, payer, payee, amount, nonce, valid_after,
      valid_before, signature, due_at, delivery_id, create_date, update_date)
    values (${id}, ${blockchain}, ${from}, ${to}, ${String(amountAtomic)}, ${bytesOf(nonce)}, ${String(validAfter)},
      ${String(validBefore)}, ${bytesOf(signature)}, now() + ${dueInMs} * interval '1 millisecond', ${deliveryId}, ${now}, ${now})
    on conflict (blockchain, payer, nonce) do nothing`)
  return count === 1
}

/** Whether a payment waits for a batch, or a batch for its block. */
export const hasOpenPayments = async (db: Db, blockchain: string): Promise<boolean> =>
  (await db.maybe(sql`select 1 where
    exists (select 1 from unified_payments where blockchain = ${blockchain} and state = 'received')
    or exists (select 1 from unified_batches where blockchain = ${blockchain} and state = 'sent')`)) !==
  undefined

/** Number of payments of a payer that wait for a batch, up to a limit. */
export const countWaiting = async (
  db: Db,
  { blockchain, signed: { from } }: AuthorizedPayment,
  limit: number,
): Promise<number> =>
  Number(
    (
      await db.one<{ count: bigint }>(sql`select count(*) from (select 1 from unified_payments
        where payer = ${from} and blockchain = ${blockchain} and state = 'received' limit ${limit}) waiting`)
    ).count,
  )

/** Whether a payment has waited for its first batch for longer than this. */
export const paymentsAreLate = async (db: Db, blockchain: string, ms: number): Promise<boolean> =>
  (await db.maybe(sql`select 1 from unified_payments where blockchain = ${blockchain} and state = 'received'
    and due_at < now() - ${ms} * interval '1 millisecond' limit 1`)) !== undefined

/** Whether a payment is due for a batch, and the batch before is old enough: each costs gas. */
export const batchIsDue = async (db: Db, blockchain: string, pauseMs: number): Promise<boolean> =>
  (await db.maybe(sql`select 1 where
    exists (select 1 from unified_payments where blockchain = ${blockchain} and state = 'received' and due_at <= now())
    and not exists (select 1 from unified_batches where blockchain = ${blockchain}
      and made_at > now() - ${pauseMs} * interval '1 millisecond')`)) !== undefined

export type WaitingPayment = {
  id: string
  payer: Address
  payee: Address
  amountAtomic: bigint
  failures: number
  /** The chain took more from its payer than that had: out of a withdrawal the payment may be covered still. */
  isOverdrawn: boolean
}

/**
 * Claims payments for a batch until the `tx` ends: those that did not fail first, and payers in turn, so that none of them fills
 * the batches of others.
 */
export const claimPayments = (tx: Db, blockchain: string, limit: number) =>
  tx.all<WaitingPayment>(sql`with waiting as (
      select id, failures, due_at, row_number() over (partition by payer order by due_at, id) as turn from unified_payments
      where blockchain = ${blockchain} and state = 'received' and (failures = 0 or due_at <= now())),
    chosen as (select id from waiting order by failures, turn, due_at, id limit ${limit})
    select p.id, p.payer, p.payee, p.amount as amount_atomic, p.failures, coalesce(b.overdrawn > 0, false) as is_overdrawn
    from unified_payments p left join unified_balances b on b.blockchain = p.blockchain and b.depositor = p.payer
    where p.id in (select id from chosen) and p.state = 'received'
    order by p.failures, p.due_at, p.id for update of p skip locked`)

/** Records a batch with its payments. */
export async function insertBatch(
  tx: Db,
  nowMs: number,
  { id, blockchain, payerEntityId }: { id: string; blockchain: string; payerEntityId: string },
  paymentIds: readonly string[],
): Promise<void> {
  const now = formatInstant(nowMs)
  await tx.run(sql`insert into unified_batches (id, blockchain, payer_entity_id, create_date)
    values (${id}, ${blockchain}, ${payerEntityId}, ${now})`)
  await tx.run(sql`update unified_payments set state = 'batched', batch_id = ${id}, update_date = ${now}
    where id = any(${paymentIds}::uuid[])`)
}

/** Fails the payments that expired before they were part of a batch, and returns their amounts. */
export async function expirePayments(
  tx: Db,
  nowMs: number,
  blockchain: string,
  limit: number,
): Promise<Changes> {
  const rows = await tx.all<{ payer: Address; amountAtomic: bigint }>(sql`with late as (
      select id from unified_payments where blockchain = ${blockchain} and state = 'received'
        and valid_before <= ${Math.floor(nowMs / 1000)} order by valid_before, id limit ${limit} for update skip locked)
    update unified_payments p set state = 'failed', update_date = ${formatInstant(nowMs)} from late where p.id = late.id
    returning p.payer, p.amount as amount_atomic`)
  const returned: Changes = new Map()
  for (const { payer, amountAtomic } of rows)
    addChange(returned, { blockchain, depositor: payer }, amountAtomic)
  return returned
}

/** Whether the payments of a batch count by it: it is of this server, and did not fail, which puts its payments into another one. */
export const isCountedBatch = async (db: Db, id: string): Promise<boolean> =>
  (await db.maybe(sql`select 1 from unified_batches where id = ${id} and state <> 'failed'`)) !== undefined

type BatchPlace = { blockHash: string; blockNumber: number; txHash: string }

/** Records the block that has a batch. */
export async function confirmBatch(
  tx: Db,
  nowMs: number,
  id: string,
  { blockHash, blockNumber, txHash }: BatchPlace,
): Promise<void> {
  const count = await tx.run(sql`update unified_batches set state = 'confirmed', block_hash = ${blockHash},
      block_number = ${blockNumber}, tx_hash = ${txHash} where id = ${id} and state = 'sent'`)
  if (count === 1) await setPaymentStates(tx, nowMs, [id], 'confirmed')
}

/** Completes the batches whose blocks are final, and credits their payees. */
export async function completeBatches(
  tx: Db,
  nowMs: number,
  { blockchain, finalTo }: { blockchain: string; finalTo: number },
  changes: Changes,
): Promise<void> {
  const batches = await tx.all<{ id: string }>(sql`update unified_batches set state = 'completed'
    where blockchain = ${blockchain} and state = 'confirmed' and block_number <= ${finalTo} returning id`)
  if (batches.length === 0) return
  const ids = batches.map(({ id }) => id)
  await setPaymentStates(tx, nowMs, ids, 'completed')
  await addCredits(tx, blockchain, ids, 1n, changes)
}

/** Takes back what the batches of an orphaned block did. */
export async function reopenBatches(
  tx: Db,
  nowMs: number,
  { blockchain, blockHash }: { blockchain: string; blockHash: string },
  changes: Changes,
): Promise<void> {
  const batches = await tx.all<{ id: string; wasCompleted: boolean }>(sql`update unified_batches b
    set state = 'sent', block_hash = null, block_number = null, tx_hash = null from unified_batches before
    where b.blockchain = ${blockchain} and b.block_hash = ${blockHash} and before.id = b.id
    returning b.id, before.state = 'completed' as was_completed`)
  if (batches.length === 0) return
  await setPaymentStates(
    tx,
    nowMs,
    batches.map(({ id }) => id),
    'batched',
  )
  const completed = batches.filter(({ wasCompleted }) => wasCompleted).map(({ id }) => id)
  await addCredits(tx, blockchain, completed, -1n, changes)
}

const setPaymentStates = (
  tx: Db,
  nowMs: number,
  batchIds: readonly string[],
  state: 'batched' | 'confirmed' | 'completed',
) =>
  tx.run(sql`update unified_payments set state = ${state}, update_date = ${formatInstant(nowMs)}
    where batch_id = any(${batchIds}::uuid[])`)

async function addCredits(
  tx: Db,
  blockchain: string,
  batchIds: readonly string[],
  sign: 1n | -1n,
  changes: Changes,
): Promise<void> {
  const credits = await tx.all<{
    payee: Address
    amountAtomic: bigint
  }>(sql`select payee, sum(amount) as amount_atomic
    from unified_payments where batch_id = any(${batchIds}::uuid[]) group by payee`)
  for (const { payee, amountAtomic } of credits)
    addChange(changes, { blockchain, depositor: payee }, sign * amountAtomic)
}

/** Locks the batches whose transactions ended without effect, in a block that is final or in none. */
export async function lockFailedBatches(
  tx: Db,
  blockchain: string,
  limit: number,
): Promise<FailedTransaction[]> {
  const sent =
    await tx.all<PlatformTransaction>(sql`select id, payer_entity_id as entity_id from unified_batches
    where blockchain = ${blockchain} and state = 'sent'`)
  const failed = await finallyFailed(tx, blockchain, sent)
  if (failed.size === 0) return []
  const locked = await tx.all<{ id: string }>(sql`select id from unified_batches
    where id = any(${[...failed.keys()]}::uuid[]) and state = 'sent' order by id limit ${limit} for update skip locked`)
  return locked.map(({ id }) => failed.get(id)!)
}

/** Ends a batch without effect; its payments wait for another one, ever longer. */
export async function failBatch(
  tx: Db,
  nowMs: number,
  id: string,
  { firstDelayMs, longestDelayMs }: { firstDelayMs: number; longestDelayMs: number },
): Promise<void> {
  const later = await tx.all<{ id: string; dueAt: string }>(sql`select id,
      now() + least(${firstDelayMs} * power(2, least(failures, 20)), ${longestDelayMs}) * interval '1 millisecond' as due_at
    from unified_payments where batch_id = ${id}`)
  await tx.run(sql`update unified_payments p set state = 'received', batch_id = null, failures = p.failures + 1, due_at = n.d,
      update_date = ${formatInstant(nowMs)}
    from unnest(${later.map((row) => row.id)}::uuid[], ${later.map((row) => row.dueAt)}::timestamptz[]) as n(i, d)
    where p.id = n.i and p.batch_id = ${id}`)
  await tx.run(sql`update unified_batches set state = 'failed' where id = ${id}`)
}
