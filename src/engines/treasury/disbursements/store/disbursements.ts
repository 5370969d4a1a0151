import { type Db, join, raw, type Sql, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { claimInTurns, type QueueClaim } from '#runtime/turns/claim'
import { isNotDeferred, lookedAtMax, type Turn, takeInTurns } from '#runtime/turns/store'
import { hasEnded, inProgress, type SentTransaction } from '../../store/platform-transactions.ts'
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
): Sql => sql`${raw(`'${kind}'`)} as kind, o.entity_id, o.id, ${kept[kind].columns}, o.blockchain, o.token_id, o.currency, o.amount,
  o.waiting, o.create_date`

const isDue = (kind: DisbursementKind, blockchain: string): Sql =>
  sql`o.blockchain = ${blockchain} and ${kept[kind].isWaiting} and o.next_attempt_at <= now()`

const isSubmitted = (kind: DisbursementKind, blockchain: string): Sql =>
  sql`o.blockchain = ${blockchain} and ${kept[kind].isUnderWay}`

/** Disbursements with their transactions. */
const paidBy = (kind: DisbursementKind): Sql =>
  sql`${kept[kind].table} o join platform_transactions t using (entity_id, id)`

/** The kinds of disbursement that are due on a chain. It is polled and mostly finds none, so it reads no deferred row. */
export async function pendingWork(
  db: Db,
  blockchain: string,
): Promise<{ waiting: DisbursementKind[]; underWay: boolean }> {
  // Where tenants are on several servers, each sends all rows that it finds.
  const isAny = (from: Sql, where: Sql) => sql`exists (select 1 from ${from} where ${where} limit 1)`
  const isAnyOf = (kind: DisbursementKind, where: Sql) => isAny(sql`${kept[kind].table} o`, where)
  const { underWay, ...is } = await db.one<Record<DisbursementKind | 'underWay', boolean>>(sql`select
    ${join(
      disbursementKinds.map((kind) => sql`${isAnyOf(kind, isDue(kind, blockchain))} as ${raw(kind)}`),
      ', ',
    )},
    ${join(
      disbursementKinds.map((kind) => isAnyOf(kind, isSubmitted(kind, blockchain))),
      ' or ',
    )}
      or ${isAny(sql`sweeps s`, sql`s.blockchain = ${blockchain} and s.status = 'pending'`)} as under_way`)
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
  const claim = {
    from: sql`${kept[kind].table} o`,
    alias: 'o',
    where: () => isDue(kind, blockchain),
    order: sql`o.next_attempt_at, o.id`,
    columns: columnsOf(kind),
  }
  const [found] = await claimInTurns<Disbursement>(tx, turn, claim, 1)
  return found
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
      sql`select o.entity_id, o.currency, -o.amount from ${inProgress} t
        join ${table} o on o.entity_id = t.entity_id and o.id = t.id where o.status = ${complete}`,
    ]
  }),
  ' union all ',
)

/** The state of a disbursement's transaction. */
type DisbursementTransaction = { state: string; txHash: string | null; errorReason: string | null }

const transactionColumns = sql`t.state, t.tx_hash, t.error_reason`

/** The disbursements of a kind and chain whose transaction has ended, in a block up to `completeTo` or in none. */
export type EndedQueue = { kind: DisbursementKind; blockchain: string; completeTo: number }

const isEnded = ({ kind, blockchain, completeTo }: EndedQueue, entityId: Sql): Sql =>
  sql`${isSubmitted(kind, blockchain)} and ${hasEnded(completeTo)}
    and ${isNotDeferred('settling disbursements', blockchain, entityId, sql`o.id::text`)}`

/** Lets `take` lock and end such disbursements that are not deferred, at most `limit`, round-robin over tenants. */
export const endedDisbursements = (
  db: Db,
  turn: Turn,
  queue: EndedQueue,
  take: (entityId: string, limit: number) => Promise<readonly DisbursementRef[]>,
  limit: number,
): Promise<readonly DisbursementRef[]> =>
  takeInTurns(db, turn, { from: paidBy(queue.kind), where: isEnded(queue, sql`o.entity_id`), take }, limit)

export type DisbursementRef = { entityId: string; id: string }

/** Locks such disbursements of one entity, or one of them, until the `tx` ends. Skips disbursements that others have locked. */
export const lockEnded = (
  tx: Db,
  queue: EndedQueue,
  { entityId, id }: Pick<DisbursementRef, 'entityId'> & Partial<DisbursementRef>,
  limit: number,
) =>
  tx.all<
    Disbursement & DisbursementTransaction
  >(sql`select ${columnsOf(queue.kind)}, ${transactionColumns} from ${paidBy(queue.kind)}
    where o.entity_id = ${entityId} and ${id === undefined ? sql`true` : sql`o.id = ${id}`}
      and ${isEnded(queue, sql`${entityId}`)}
    order by o.id limit ${limit} for update of o skip locked`)

/** A disbursement that shows the hash of its transaction. */
export type ShownDisbursement = DisbursementRef & { status: string }

/**
 * Copies new transaction hashes to their disbursements, round-robin over tenants; a transfer is `running` from then on. `proceed`
 * is part of the `tx` that changed those of one tenant.
 */
export function showHashes(
  db: Db,
  turn: Turn,
  { kind, blockchain }: Pick<EndedQueue, 'kind' | 'blockchain'>,
  at: string,
  limit: number,
  proceed?: QueueClaim<ShownDisbursement>['proceed'],
): Promise<readonly ShownDisbursement[]> {
  const { table, sent } = kept[kind]
  const claim: QueueClaim<ShownDisbursement> = {
    from: paidBy(kind),
    alias: 'o',
    where: () => sql`${isSubmitted(kind, blockchain)} and t.tx_hash is distinct from o.transaction_hash
      and t.state in ('SENT', 'STUCK', 'CONFIRMED', 'COMPLETE')`,
    order: sql`o.id`,
    columns: sql`o.id, t.tx_hash`,
    change: (
      entityId,
    ) => sql`update ${table} o set transaction_hash = taken.tx_hash, update_date = ${at}, status = ${sent}
      from taken where o.entity_id = ${entityId} and o.id = taken.id returning o.entity_id, o.id, o.status`,
    ...(proceed && { proceed }),
  }
  return claimInTurns(db, turn, claim, limit)
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
  perEntity(sent, (entityId, own) =>
    tx.all<Disbursement & { ended: Ending['status'] | null }>(sql`select ${columnsOf(kind)},
        case o.status when ${kept[kind].complete} then 'complete' when 'failed' then 'failed' end as ended
      from ${kept[kind].table} o where o.blockchain = ${blockchain} and o.submitted
        and o.entity_id = ${entityId} and o.transaction_hash = any(${own.map(({ txHash }) => txHash)}::text[])
      order by o.id for update`),
  )

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
  perEntity(refs, (entityId, own) =>
    tx.all<
      Disbursement & { status: string }
    >(sql`select ${columnsOf(kind)}, o.status from ${kept[kind].table} o
      where o.entity_id = ${entityId} and o.id = any(${own.map(({ id }) => id)}::uuid[])
        and ${kept[kind].leaves} and not o.submitted and o.status in ('pending', 'failed')
      order by o.id for update`),
  )
