import { type Db, join, raw, type Sql, sql } from '#runtime/db/db'
import {
  inTurns,
  isNotDeferred,
  lookedAtMax,
  newTurn,
  type Shared,
  served,
  type Turn,
} from '#runtime/turns/store'
import { hasEnded, type SentTransaction } from '../../store/platform-transactions.ts'
import type { Waiting } from '../../types.ts'

/** Kinds of outgoing money: a payout, a transfer to the merchant's own address, a refund to the payer, or coins to redeem. */
export const disbursementKinds = ['payout', 'transfer', 'refund', 'redemption'] as const
export type DisbursementKind = (typeof disbursementKinds)[number]

/** The fields of a disbursement that paying it requires. */
export type Disbursement = {
  kind: DisbursementKind
  entityId: string
  id: string
  walletId: string
  blockchain: string
  tokenId: string
  currency: string
  amount: bigint
  toAddress: string
  createDate: string
  /** The sender is identified, or need not be. */
  identified: boolean
  /** The reason why it waited at the last look. */
  waiting: Waiting | null
  /** The intent of a refund. */
  paymentIntentId: string | null
}

/** The table of each kind of disbursement, which of its rows are such, and its names of the statuses. */
const kept = {
  payout: {
    table: raw('payouts'),
    columns: raw(
      `o.wallet_id, o.to_address, o.identities is not null as identified, null as payment_intent_id`,
    ),
    leaves: raw('true'),
    isWaiting: raw(`o.status = 'pending' and not o.submitted`),
    isUnderWay: raw(`o.status = 'pending' and o.submitted`),
    sent: 'pending',
    complete: 'complete',
  },
  transfer: {
    table: raw('transfers'),
    columns: raw('o.wallet_id, o.to_address, true as identified, null as payment_intent_id'),
    leaves: raw(`o.direction = 'out'`),
    isWaiting: raw(`o.direction = 'out' and o.status = 'pending' and not o.submitted`),
    isUnderWay: raw(`o.direction = 'out' and o.status in ('pending', 'running') and o.submitted`),
    sent: 'running',
    complete: 'complete',
  },
  refund: {
    table: raw('payments'),
    columns: raw(
      `o.merchant_wallet_id as wallet_id, o.deposit_address as to_address, true as identified, o.payment_intent_id`,
    ),
    leaves: raw(`o.type = 'refund'`),
    isWaiting: raw(`o.type = 'refund' and o.status = 'pending' and not o.submitted`),
    isUnderWay: raw(`o.type = 'refund' and o.status = 'pending' and o.submitted`),
    sent: 'pending',
    complete: 'paid',
  },
  redemption: {
    table: raw('redemptions'),
    columns: raw('o.wallet_id, o.to_address, true as identified, null as payment_intent_id'),
    leaves: raw('true'),
    isWaiting: raw(`o.status = 'pending' and not o.submitted`),
    isUnderWay: raw(`o.status = 'pending' and o.submitted`),
    sent: 'pending',
    complete: 'complete',
  },
} as const

const columnsOf = (
  kind: DisbursementKind,
): Sql => sql`${kind} as kind, o.entity_id, o.id, ${kept[kind].columns}, o.blockchain, o.token_id, o.currency, o.amount,
  o.waiting, o.create_date`

/** Waiting disbursements; `rows` are those of a tenant that are not deferred. */
function dueOf(kind: DisbursementKind, blockchain: string): Shared {
  const { table, isWaiting } = kept[kind]
  const where = sql`o.blockchain = ${blockchain} and ${isWaiting}`
  const rows = sql`select o.entity_id, o.id from ${table} o where ${where} and o.next_attempt_at <= now()
    and o.entity_id = turn.entity_id order by o.next_attempt_at, o.id`
  return { from: sql`${table} o`, where, rows }
}

/** The kinds of disbursement that are due on a chain. It is polled and mostly finds none, so it reads no deferred row. */
export async function pendingWork(
  db: Db,
  blockchain: string,
): Promise<{ waiting: DisbursementKind[]; underWay: boolean }> {
  const first = (kind: DisbursementKind) => inTurns(newTurn('paying'), dueOf(kind, blockchain), 1)
  const isAnyUnderWay = (kind: DisbursementKind) =>
    sql`exists (select 1 from ${kept[kind].table} o where o.blockchain = ${blockchain} and ${kept[kind].isUnderWay})`
  const { underWay, ...is } = await db.one<Record<DisbursementKind | 'underWay', boolean>>(sql`select
    ${join(
      disbursementKinds.map((kind) => sql`exists (${first(kind)}) as ${raw(kind)}`),
      ', ',
    )},
    ${join(disbursementKinds.map(isAnyUnderWay), ' or ')}
      or exists (select 1 from sweeps s where s.blockchain = ${blockchain} and s.status = 'pending') as under_way`)
  return { waiting: disbursementKinds.filter((kind) => is[kind]), underWay }
}

/**
 * Claims the next due disbursement, round-robin over tenants, the longest due of each first, and locks it until the `tx`
 * ends. Skips disbursements that others have locked.
 */
export async function claimWaiting(
  tx: Db,
  turn: Turn,
  kind: DisbursementKind,
  blockchain: string,
): Promise<Disbursement | undefined> {
  const due = dueOf(kind, blockchain)
  const found =
    await tx.all<Disbursement>(sql`with chosen as materialized (${inTurns(turn, due, lookedAtMax)})
    select ${columnsOf(kind)} from chosen join ${due.from} on o.entity_id = chosen.entity_id and o.id = chosen.id
    where ${due.where} and o.next_attempt_at <= now() order by chosen.position limit 1 for update of o skip locked`)
  return served(turn, found)[0]
}

/** Defers the disbursement by `ms`, behind disbursements that were due before it. */
export const postponeDisbursement = (tx: Db, { kind, entityId, id }: Disbursement, ms: number) =>
  tx.run(sql`update ${kept[kind].table} set next_attempt_at = now() + ${ms} * interval '1 millisecond'
    where entity_id = ${entityId} and id = ${id}`)

/** Makes disbursements due that wait for these coins, those that would be due first, without waiting for locked ones. */
export async function resumeWaiting(
  tx: Db,
  { entityId, blockchain, tokenId }: Pick<Disbursement, 'entityId' | 'blockchain' | 'tokenId'>,
): Promise<void> {
  for (const { table, isWaiting } of Object.values(kept))
    await tx.run(sql`with resumed as materialized (
        select o.id from ${table} o
        where o.blockchain = ${blockchain} and o.entity_id = ${entityId} and ${isWaiting} and o.token_id = ${tokenId}
          and o.next_attempt_at > now()
        order by o.next_attempt_at, o.id limit ${lookedAtMax} for update skip locked)
      update ${table} set next_attempt_at = now() where entity_id = ${entityId} and id in (select id from resumed)`)
}

/** The total amount of a token that the entity's waiting disbursements require. */
export async function waitingAmount(
  tx: Db,
  { entityId, blockchain, tokenId }: Pick<Disbursement, 'entityId' | 'blockchain' | 'tokenId'>,
): Promise<bigint> {
  const part = (
    kind: DisbursementKind,
  ) => sql`select coalesce(sum(o.amount), 0) as amount from ${kept[kind].table} o
    where o.entity_id = ${entityId} and o.blockchain = ${blockchain} and o.token_id = ${tokenId} and ${kept[kind].isWaiting}`
  const row = await tx.one<{ amount: bigint }>(
    sql`select sum(amount) as amount from (${join(disbursementKinds.map(part), ' union all ')}) as parts`,
  )
  return row.amount
}

/** A payout, transfer or refund that waits for coins or gas, and since when it was asked for. */
export type HeldDisbursement = {
  kind: DisbursementKind
  id: string
  blockchain: string
  currency: string
  amount: bigint
  waiting: Waiting
  createDate: string
}

/** The disbursements of an entity that wait for coins or gas, the oldest first. */
export const heldDisbursements = (db: Db, entityId: string, limit: number) =>
  db.all<HeldDisbursement>(
    sql`select * from (${join(
      disbursementKinds.map(
        (
          kind,
        ) => sql`(select ${kind} as kind, o.id, o.blockchain, o.currency, o.amount, o.waiting, o.create_date
        from ${kept[kind].table} o where o.entity_id = ${entityId} and ${kept[kind].isWaiting} and o.waiting is not null
        order by o.create_date, o.id limit ${limit})`,
      ),
      ' union all ',
    )}) held order by held.create_date, held.id limit ${limit}`,
  )

/** Records what a waiting disbursement waits for. */
export const setWaiting = (tx: Db, { kind, entityId, id }: Disbursement, waiting: Waiting) =>
  tx.run(sql`update ${kept[kind].table} o set waiting = ${JSON.stringify(waiting)}
    where o.entity_id = ${entityId} and o.id = ${id} and ${kept[kind].isWaiting}
      and o.waiting is distinct from ${JSON.stringify(waiting)}::jsonb`)

/** Marks the disbursement as submitted: its on-chain transaction exists. */
export const markSubmitted = (tx: Db, { kind, entityId, id }: Disbursement) =>
  tx.run(sql`update ${kept[kind].table} set submitted = true, waiting = null
    where entity_id = ${entityId} and id = ${id}`)

/** Rows to sum: amounts that a block sent for disbursements not ended, less those that a reorg returned for ended ones. */
export const leaving = join(
  disbursementKinds.flatMap((kind) => {
    const { table, isWaiting, isUnderWay, complete } = kept[kind]
    return [
      sql`select o.entity_id, o.currency, o.amount from ${table} o
        join platform_transactions t on t.entity_id = o.entity_id and t.id = o.id
        where ((${isWaiting}) or (${isUnderWay})) and t.state in ('CONFIRMED', 'COMPLETE')`,
      // Reads from the few transactions in progress, never from all rows: `offset 0` keeps the planner from reordering.
      sql`select o.* from (select entity_id, id from platform_transactions
          where state <> 'COMPLETE' and state in ('QUEUED', 'SENT', 'STUCK') offset 0) t
        cross join lateral (select entity_id, currency, -amount from ${table}
          where entity_id = t.entity_id and id = t.id and status = ${complete} offset 0) o`,
    ]
  }),
  ' union all ',
)

/** The state of a disbursement's transaction. */
type DisbursementTransaction = { state: string; txHash: string | null; errorReason: string | null }

const transactionColumns = sql`t.state, t.tx_hash, t.error_reason`

/** Disbursements whose transaction ended and that are not deferred, round-robin over tenants. */
export async function endedDisbursements(
  db: Db,
  turn: Turn,
  kind: DisbursementKind,
  blockchain: string,
  completeTo: number,
  limit: number,
): Promise<readonly DisbursementRef[]> {
  const { table, isUnderWay } = kept[kind]
  const where = sql`o.blockchain = ${blockchain} and ${isUnderWay}`
  const rows = sql`select o.entity_id, o.id from ${table} o
    join platform_transactions t on t.entity_id = o.entity_id and t.id = o.id
    where ${where} and o.entity_id = turn.entity_id and ${hasEnded(completeTo)}
      and ${isNotDeferred(turn.queue, blockchain, sql`o.entity_id`, sql`o.id::text`)} order by o.id`
  return served(
    turn,
    await db.all<DisbursementRef>(inTurns(turn, { from: sql`${table} o`, where, rows }, limit)),
  )
}

export type DisbursementRef = { entityId: string; id: string }

/** Reads those disbursements again and locks them until the `tx` ends. Skips disbursements that others have locked. */
export const lockEnded = (
  tx: Db,
  kind: DisbursementKind,
  blockchain: string,
  completeTo: number,
  refs: readonly DisbursementRef[],
) =>
  tx.all<
    Disbursement & DisbursementTransaction
  >(sql`select ${columnsOf(kind)}, ${transactionColumns} from ${kept[kind].table} o
    join platform_transactions t on t.entity_id = o.entity_id and t.id = o.id
    where (o.entity_id, o.id) in (select * from unnest(${refs.map((ref) => ref.entityId)}::uuid[],
        ${refs.map((ref) => ref.id)}::uuid[]))
      and o.blockchain = ${blockchain} and ${kept[kind].isUnderWay} and ${hasEnded(completeTo)}
    order by o.entity_id, o.id for update of o skip locked`)

/**
 * Copies new transaction hashes to their disbursements, round-robin over tenants; a transfer is `running` from then on.
 * Returns the changed disbursements.
 */
export async function showHashes(
  tx: Db,
  turn: Turn,
  kind: DisbursementKind,
  blockchain: string,
  at: string,
  limit: number,
) {
  const { table, isUnderWay, sent } = kept[kind]
  const where = sql`o.blockchain = ${blockchain} and ${isUnderWay}`
  const signed = sql`t.tx_hash is distinct from o.transaction_hash
    and t.state in ('SENT', 'STUCK', 'CONFIRMED', 'COMPLETE')`
  const rows = sql`select o.entity_id, o.id from ${table} o
    join platform_transactions t on t.entity_id = o.entity_id and t.id = o.id
    where ${where} and o.entity_id = turn.entity_id and ${signed} order by o.id`
  const shown = await tx.all<DisbursementRef & { status: string }>(sql`with chosen as materialized (
      ${inTurns(turn, { from: sql`${table} o`, where, rows }, limit)}
    ), signed as materialized (
      select o.entity_id, o.id, t.tx_hash from chosen
      join ${table} o on o.entity_id = chosen.entity_id and o.id = chosen.id
      join platform_transactions t on t.entity_id = o.entity_id and t.id = o.id
      where ${where} and ${signed} order by o.entity_id, o.id for update of o skip locked
    )
    update ${table} u set transaction_hash = t.tx_hash, update_date = ${at}, status = ${sent}
    from signed t where u.entity_id = t.entity_id and u.id = t.id
    returning u.entity_id, u.id, u.status`)
  return served(turn, shown)
}

export type Ending = {
  status: 'complete' | 'failed'
  transactionHash?: string | null
  errorCode?: string
  riskReason?: string
}

export const setEnding = (tx: Db, { kind, entityId, id }: Disbursement, ending: Ending, at: string) =>
  tx.run(sql`update ${kept[kind].table} set status = ${ending.status === 'complete' ? kept[kind].complete : 'failed'}, error_code = ${ending.errorCode ?? null},
      risk_reason = ${ending.riskReason ?? null}, update_date = ${at},
      waiting = case when ${ending.errorCode === 'insufficient_funds'} then waiting end,
      transaction_hash = coalesce(${ending.transactionHash ?? null}, transaction_hash)
    where entity_id = ${entityId} and id = ${id}`)

/** The disbursements of these transactions with their endings, locked until the `tx` ends. */
export const lockDisbursementsOf = (
  tx: Db,
  kind: DisbursementKind,
  blockchain: string,
  sent: readonly SentTransaction[],
) =>
  tx.all<Disbursement & { ended: Ending['status'] | null }>(sql`select ${columnsOf(kind)},
      case o.status when ${kept[kind].complete} then 'complete' when 'failed' then 'failed' end as ended
    from ${kept[kind].table} o where o.blockchain = ${blockchain} and o.submitted
      and (o.entity_id, o.transaction_hash) in (select * from unnest(${sent.map((row) => row.entityId)}::uuid[],
        ${sent.map((row) => row.txHash)}::text[]))
    order by o.entity_id, o.id for update`)

/** Restores the status that the disbursement had before it ended. */
export const setUnderWay = (tx: Db, { kind, entityId, id }: Disbursement, at: string) =>
  tx.run(sql`update ${kept[kind].table} set status = ${kept[kind].sent}, error_code = null, update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)

/** The rows of these disbursements as JSON texts, in which numbers keep every digit. */
export const copyDisbursements = (db: Db, refs: readonly DisbursementRef[]) =>
  db.all<{ id: string; copy: string }>(
    join(
      disbursementKinds.map(
        (kind) => sql`select o.id, jsonb_build_object('kind', ${kind}::text, 'row', to_jsonb(o))::text as copy
          from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
          join ${kept[kind].table} o on o.entity_id = n.e and o.id = n.i where ${kept[kind].leaves}`,
      ),
      ' union all ',
    ),
  )

/**
 * Restores disbursements whose transaction may have been sent, as under way: those that are missing, and those that failed
 * without it. Returns them.
 */
export const restoreDisbursements = (tx: Db, kind: DisbursementKind, copies: readonly string[]) =>
  tx.all<Disbursement>(sql`insert into ${kept[kind].table} as o
    select distinct on (r.entity_id, r.id) r.* from unnest(${copies}::text[]) as n(text),
      row_of_copy(null::${kept[kind].table}, n.text::jsonb->'row'
        || '{"status": "pending", "submitted": true, "error_code": null, "risk_reason": null, "waiting": null}') r
    order by r.entity_id, r.id
    on conflict (entity_id, id) do update set status = excluded.status, submitted = true, error_code = null,
      risk_reason = null, waiting = null, update_date = excluded.update_date where o.status = 'failed'
    returning ${columnsOf(kind)}`)

/** Locks those of these disbursements that have no transaction, and have not ended or failed, until the `tx` ends. */
export const lockUnpaid = (tx: Db, kind: DisbursementKind, refs: readonly DisbursementRef[]) =>
  tx.all<Disbursement & { status: string }>(sql`select ${columnsOf(kind)}, o.status from ${kept[kind].table} o
    where (o.entity_id, o.id) in (select * from unnest(${refs.map((ref) => ref.entityId)}::uuid[],
        ${refs.map((ref) => ref.id)}::uuid[]))
      and ${kept[kind].leaves} and not o.submitted and o.status in ('pending', 'failed')
    order by o.entity_id, o.id for update`)
