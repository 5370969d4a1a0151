import { formatInstant } from '#lib/time'
import { type Db, type Sql, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { isNotDeferred, type Turn, takeInTurns } from '#runtime/turns/store'
import { statesBefore } from '../states.ts'
import type { Ref, Sender, SignedFee } from './transactions.ts'

/** The user operation that was signed for a transaction, as JSON. */
type SignedOperation = Ref & {
  userOpHash: string
  operation: string
  requiredDepositAtomic: bigint
  fee: SignedFee
}

/** Records signed operations, before anything else learns of them; one that is signed again takes the place of the first. */
export async function insertSignedOperations(
  tx: Db,
  nowMs: number,
  blockchain: string,
  account: string,
  rows: readonly SignedOperation[],
): Promise<void> {
  const at = formatInstant(nowMs)
  await tx.run(sql`insert into operations (entity_id, id, blockchain, account, user_op_hash, operation,
      required_deposit, state, create_date)
    select e, i, ${blockchain}, ${account}, h, o::jsonb, d, 'signed', ${at}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.userOpHash)}::text[], ${rows.map((row) => row.operation)}::text[],
      ${rows.map((row) => row.requiredDepositAtomic.toString())}::numeric[])
      as n(e, i, h, o, d)
    on conflict (entity_id, id) do update set user_op_hash = excluded.user_op_hash, operation = excluded.operation,
      required_deposit = excluded.required_deposit, state = 'signed',
      bundle_id = null`)
  await tx.run(sql`update transactions t set state = 'QUEUED', user_op_hash = n.h, estimated_fee = n.f::jsonb,
      error_details = null, update_date = ${at}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.userOpHash)}::text[], ${rows.map((row) => JSON.stringify(row.fee))}::text[]) as n(e, i, h, f)
    where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('QUEUED'), 'QUEUED']}::text[])`)
}

const isOpen = sql`o.state <> 'ended' and t.state in ('QUEUED', 'SENT') and t.block_hash is null`

/** The oldest transaction of an account whose operation is signed and in no block yet. */
export const oldestOperation = async (
  db: Db,
  blockchain: string,
  { entityId, address }: Sender,
): Promise<string | undefined> =>
  (
    await db.maybe<{ id: string }>(sql`select o.id from operations o
      join transactions t on t.entity_id = o.entity_id and t.id = o.id
      where o.entity_id = ${entityId} and o.blockchain = ${blockchain} and o.account = ${address} and ${isOpen}
      order by o.create_date, o.id limit 1`)
  )?.id

/** The call of an operation `q`: that of its transaction `t`, or that of the account by itself. */
const callOfOperation = sql`coalesce(t.call_to, q.account) as call_to, coalesce(t.call_value, 0) as call_value,
  coalesce(t.call_data, decode(substr(q.operation->>'callData', 3), 'hex')) as call_data`

/** An operation that waits for a bundle, with the call that it makes. */
export type WaitingOperation = Ref & {
  operation: string
  requiredDepositAtomic: bigint
  createDate: string
  callTo: string | null
  callValue: bigint
  callData: Buffer
  /** Whether it belongs to no transaction: its owner signed it elsewhere. */
  isExternal: boolean
  /** Whether a signed bundle ever carried it: since then, its bytes may be known. */
  wasBundled: boolean
  /** Number of bundles with it that a block held and the EntryPoint refused. */
  failedBundles: number
}

/** Signed operations that no bundle carries, oldest first; entities take turns. */
export async function waitingOperations(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
): Promise<WaitingOperation[]> {
  const waitsOf = (entityId: Sql) => sql`q.blockchain = ${blockchain} and q.state = 'signed'
    and ${isNotDeferred(turn.queue, blockchain, entityId, sql`q.id::text`)}`
  const where = waitsOf(sql`q.entity_id`)
  const take = (entityId: string, max: number) =>
    db.all<WaitingOperation>(sql`select q.entity_id, q.id, q.operation::text as operation,
      q.required_deposit as required_deposit_atomic, q.create_date, ${callOfOperation}, q.is_external, q.was_bundled,
      q.failed_bundles
    from operations q left join transactions t on t.entity_id = ${entityId} and t.id = q.id
    where q.entity_id = ${entityId} and ${waitsOf(sql`${entityId}`)}
    order by q.create_date, q.id limit ${max}`)
  return takeInTurns(db, turn, { from: sql`operations q`, where, take }, limit)
}

/** Whether an operation that this paymaster pays for waits for a bundle, or for the block of one. */
export const isPayingFor = async (
  db: Db,
  entityId: string,
  blockchain: string,
  paymaster: string,
  openBundles: readonly string[],
): Promise<boolean> =>
  (await db.maybe(sql`select 1 from operations o where o.entity_id = ${entityId} and o.blockchain = ${blockchain}
      and o.operation->'sponsorship'->>'address' = ${paymaster} and o.state = 'signed'
    union all select 1 from operations o where o.entity_id = ${entityId} and o.bundle_id = any(${openBundles}::uuid[])
      and o.operation->'sponsorship'->>'address' = ${paymaster} limit 1`)) !== undefined

/** Locks those of the operations that still wait. */
export const lockWaiting = (tx: Db, refs: readonly Ref[]) =>
  perEntity(refs, (entityId, own) =>
    tx.all<Ref>(sql`select q.entity_id, q.id from operations q
    where q.entity_id = ${entityId} and q.id = any(${own.map((ref) => ref.id)}::uuid[]) and q.state = 'signed'
    order by q.id for update of q skip locked`),
  )

export async function markBundled(
  tx: Db,
  nowMs: number,
  refs: readonly Ref[],
  bundleId: string,
): Promise<Ref[]> {
  const pairs = sql`unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)`
  await tx.run(sql`update operations q set state = 'bundled', bundle_id = ${bundleId} from ${pairs}
    where q.entity_id = n.e and q.id = n.i`)
  return tx.all<Ref>(sql`update transactions t set state = 'SENT', error_details = null, update_date = ${formatInstant(nowMs)}
    from ${pairs} where t.entity_id = n.e and t.id = n.i and t.state = any(${[...statesBefore('SENT')]}::text[])
    returning t.entity_id, t.id`)
}

/**
 * Whether a signed bundle ever carried an operation of the transaction: its bytes may be known, and executed by any bundler,
 * so that the transaction can be neither cancelled nor denied.
 */
export const isKnown = (entityId: Sql, id: Sql) => sql`exists (select 1 from operations k
  where k.entity_id = ${entityId} and k.id = ${id} and k.was_bundled)`

/** The transaction of the treasury that carries the operation of a transaction now. */
export const bundleCarrying = (db: Db, { entityId, id }: Ref) =>
  db.maybe<Ref>(sql`select entity_id, bundle_id as id from operations
    where entity_id = ${entityId} and id = ${id} and state = 'bundled'`)

/** The sum of the deposits that the EntryPoint asks for operations of an entity in bundles that no block holds yet. */
export const depositsInFlight = async (db: Db, entityId: string, blockchain: string): Promise<bigint> =>
  (
    await db.one<{
      amount: bigint
    }>(sql`select coalesce(sum(o.required_deposit), 0) as amount from operations o
      left join transactions t on t.entity_id = o.entity_id and t.id = o.id
      where o.entity_id = ${entityId} and o.blockchain = ${blockchain} and o.state = 'bundled'
        and (o.is_external or t.state = 'SENT')`)
  ).amount

/** The bundles among these that failed in a block. */
export const failedInBlocks = (db: Db, bundles: readonly Ref[]) =>
  db.all<
    Ref & { blockchain: string; blockHash: string; txHash: string }
  >(sql`select b.entity_id, b.id, b.blockchain, b.block_hash, b.tx_hash
    from unnest(${bundles.map((ref) => ref.entityId)}::uuid[], ${bundles.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join transactions b on b.entity_id = n.e and b.id = n.i
    where b.state = 'FAILED' and b.error_reason = 'FAILED_ON_CHAIN' and b.block_hash is not null and b.tx_hash is not null`)

/**
 * Lets operations wait for another bundle, as far as no block holds them. The bytes of those in a bundle that was signed may
 * be known; the others are as they were before.
 */
export async function releaseBundles(tx: Db, nowMs: number, bundles: readonly Ref[]): Promise<void> {
  const released = await tx.all<Ref & { wasBundled: boolean }>(sql`update operations o set state = 'signed',
      bundle_id = null, was_bundled = o.was_bundled or exists
        (select 1 from attempts a where a.entity_id = o.entity_id and a.transaction_id = o.bundle_id),
      failed_bundles = o.failed_bundles + (select count(*) from transactions b
        where b.entity_id = o.entity_id and b.id = o.bundle_id and b.state = 'FAILED' and b.error_reason = 'FAILED_ON_CHAIN')
    from unnest(${bundles.map((ref) => ref.entityId)}::uuid[], ${bundles.map((ref) => ref.id)}::uuid[]) as n(e, b)
    where o.entity_id = n.e and o.bundle_id = n.b and o.state = 'bundled' and (o.is_external or exists
      (select 1 from transactions t where t.entity_id = o.entity_id and t.id = o.id
        and t.block_hash is null and t.state in ('QUEUED', 'SENT')))
    returning o.entity_id, o.id, o.was_bundled`)
  const unsent = released.filter(({ wasBundled }) => !wasBundled)
  await tx.run(sql`update transactions t set state = 'QUEUED', update_date = ${formatInstant(nowMs)}
    from unnest(${unsent.map((ref) => ref.entityId)}::uuid[], ${unsent.map((ref) => ref.id)}::uuid[]) as n(e, i)
    where t.entity_id = n.e and t.id = n.i and t.state = 'SENT'`)
}

/** The calls that the operations of these bundles make. */
export const bundledCalls = (db: Db, bundles: readonly Ref[]) =>
  db.all<{ bundleId: string; callTo: string | null; callValue: bigint; callData: Buffer }>(
    sql`select q.bundle_id, ${callOfOperation}
    from unnest(${bundles.map((ref) => ref.entityId)}::uuid[], ${bundles.map((ref) => ref.id)}::uuid[]) as n(e, b)
    join operations q on q.entity_id = n.e and q.bundle_id = n.b
    left join transactions t on t.entity_id = q.entity_id and t.id = q.id`,
  )

/** Ends operations that no bundle will carry; the modular engine learns the `reason` of external ones. */
export const endOperations = (tx: Db, refs: readonly Ref[], reason: string | null = null) =>
  tx.run(sql`update operations q set state = 'ended', end_reason = ${reason}
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    where q.entity_id = n.e and q.id = n.i`)

/** Lets transactions be signed again, whose operations cannot be executed as they are; external operations end. */
export async function signAgain(tx: Db, nowMs: number, refs: readonly Ref[], details: string): Promise<void> {
  await endOperations(tx, refs, details)
  await tx.run(sql`update transactions t set user_op_hash = null, state = 'QUEUED', error_details = ${details},
      update_date = ${formatInstant(nowMs)}
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    where t.entity_id = n.e and t.id = n.i and t.state in ('QUEUED', 'SENT') and t.block_hash is null`)
}

/** The transactions among these ids that belong to a smart account; the nonces of the EntryPoint identify them. */
export const transactionsOfAccounts = (db: Db, refs: readonly Ref[]) =>
  db.all<Ref>(sql`select t.entity_id, t.id
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join transactions t on t.entity_id = n.e and t.id = n.i where t.smart_account and t.transaction_type = 'OUTBOUND'`)

type ExternalOperation = Ref & {
  blockchain: string
  account: string
  userOpHash: string
  operation: string
  requiredDepositAtomic: bigint
}

/** Lets an operation that its owner signed elsewhere wait for a bundle. */
export const insertExternalOperation = (tx: Db, nowMs: number, row: ExternalOperation) =>
  tx.run(sql`insert into operations (entity_id, id, blockchain, account, user_op_hash, operation, required_deposit, state,
      is_external, create_date)
    values (${row.entityId}, ${row.id}, ${row.blockchain}, ${row.account}, ${row.userOpHash}, ${row.operation}::jsonb,
      ${row.requiredDepositAtomic.toString()}, 'signed', true, ${formatInstant(nowMs)})`)

/** An external operation that no bundle carries any more. `spoiledBundles`: a block held one that it made fail. */
type EndedOperation = Ref & { userOpHash: string; reason: string; spoiledBundles: boolean }

/** Takes the external operations that ended with a reason which has not been passed on yet. */
export async function takeEndedExternal(tx: Db, blockchain: string): Promise<EndedOperation[]> {
  const isEnded = sql`q.blockchain = ${blockchain} and q.is_external and q.state = 'ended' and q.end_reason is not null`
  const entities = await tx.all<{ entityId: string }>(
    sql`select distinct q.entity_id from operations q where ${isEnded}`,
  )
  return perEntity(entities, (entityId) =>
    tx.all<EndedOperation>(sql`with ended as materialized (
      select q.id, q.user_op_hash, q.end_reason, q.failed_bundles from operations q
      where q.entity_id = ${entityId} and ${isEnded} order by q.id for update)
    update operations o set end_reason = null from ended
    where o.entity_id = ${entityId} and o.id = ended.id
    returning o.entity_id, o.id, ended.user_op_hash, ended.end_reason as reason,
      ended.failed_bundles > 0 as spoiled_bundles`),
  )
}

/** Lets operations of an orphaned block be carried again: by their bundle, or by another one where it ended without effect. */
export async function reviveOperations(tx: Db, refs: readonly Ref[]): Promise<void> {
  const ids = sql`unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)`
  await tx.run(sql`update operations o set end_reason = null, was_bundled = true,
      state = case when o.bundle_id is null then 'signed' else 'bundled' end
    from ${ids} where o.entity_id = n.e and o.id = n.i`)
  await tx.run(sql`update operations o set state = 'signed', bundle_id = null
    from ${ids} where o.entity_id = n.e and o.id = n.i and o.state = 'bundled' and exists (select 1 from transactions b
      where b.entity_id = o.entity_id and b.id = o.bundle_id and b.state in ('FAILED', 'DENIED', 'CANCELLED'))`)
}
