import { type Db, sql } from '#runtime/db/db'

/** A key permanently binds one accepted request of one operation to the resource it created. */
type Binding = { fingerprint: Buffer; resourceId: string | null }

export type BindingKey = { entityId: string; operation: string; key: string }

export const findBinding = (db: Db, { entityId, operation, key }: BindingKey) =>
  db.maybe<Binding>(sql`select fingerprint, resource_id from idempotency_keys
    where entity_id = ${entityId} and operation = ${operation} and key = ${key}`)

const lockOf = ({ entityId, operation, key }: BindingKey) =>
  sql`hashtextextended(${`idempotency:${entityId}:${operation}:${key}`}, 0)`

/** `held`: a duplicate request is being processed, here or in another process. `bound`: a duplicate has committed. */
type Claim = 'claimed' | 'held' | 'bound'

/** Claims the key until the end of the `tx` that does the work. Never waits for a duplicate, whose process may be frozen. */
export async function claimBinding(
  tx: Db,
  { entityId, operation, key }: BindingKey,
  fingerprint: Buffer,
  nowMs: number,
): Promise<Claim> {
  const lock = lockOf({ entityId, operation, key })
  const { claim } = await tx.one<{ claim: Claim }>(sql`with free as materialized (
      select pg_try_advisory_xact_lock(${lock}) as yes
    ), claimed as (
      insert into idempotency_keys (entity_id, operation, key, fingerprint, create_date)
      select ${entityId}::uuid, ${operation}, ${key}, ${fingerprint}, ${new Date(nowMs).toISOString()}::timestamptz
      from free where yes on conflict do nothing returning 1
    )
    select case when exists (select 1 from claimed) then 'claimed' when yes then 'bound' else 'held' end as claim
    from free`)
  return claim
}

/** Whether no duplicate request is being processed at this moment. */
export const isUnclaimed = async (db: Db, binding: BindingKey): Promise<boolean> =>
  (await db.one<{ free: boolean }>(sql`select pg_try_advisory_xact_lock_shared(${lockOf(binding)}) as free`))
    .free

export async function bindResource(tx: Db, binding: BindingKey, resourceId: string): Promise<void> {
  await tx.run(sql`update idempotency_keys set resource_id = ${resourceId}
    where entity_id = ${binding.entityId} and operation = ${binding.operation} and key = ${binding.key}`)
}

/** The keys that are bound to a resource, each with its operation and the time of its request. */
export const bindingsOf = (db: Db, entityId: string, resourceId: string) =>
  db.all<{ operation: string; key: string; recordedAt: string }>(sql`select operation, key,
      coalesce(recorded_at, create_date) as recorded_at
    from idempotency_keys where entity_id = ${entityId} and resource_id = ${resourceId} order by create_date, key`)

/** Returns the keys that are bound to these resources, as JSON texts of their rows. */
export const copyBindings = (db: Db, refs: readonly { entityId: string; id: string }[]) =>
  db.all<{
    entityId: string
    id: string
    copy: string
  }>(sql`select k.entity_id, k.resource_id as id,
      row_to_json(k)::text as copy
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::text[]) as n(e, i)
    join idempotency_keys k on k.entity_id = n.e and k.resource_id = n.i`)

/** A request accepted twice: as `id`, and again as `takenBy` while the record of the first acceptance was lost. */
export type Twin = { entityId: string; id: string; takenBy: string }

/** Restores lost bindings. Returns those whose request has bound its key to another resource meanwhile. */
export async function restoreBindings(tx: Db, copies: readonly string[]): Promise<Twin[]> {
  const given = sql`unnest(${copies}::text[]) as n(text),
    row_of_copy(null::idempotency_keys, n.text::jsonb) r`
  await tx.run(sql`insert into idempotency_keys select r.* from ${given}
    order by r.entity_id, r.operation, r.key on conflict do nothing`)
  return tx.all<Twin>(sql`select r.entity_id, r.resource_id as id, k.resource_id as taken_by from ${given}
    join idempotency_keys k on k.entity_id = r.entity_id and k.operation = r.operation and k.key = r.key
    where k.fingerprint = r.fingerprint and k.resource_id <> r.resource_id`)
}

/** Binds the keys of `takenBy` to `id` from now on. */
export const rebind = (tx: Db, twins: readonly Twin[]) =>
  tx.run(sql`update idempotency_keys k set resource_id = n.i
    from unnest(${twins.map((twin) => twin.entityId)}::uuid[], ${twins.map((twin) => twin.id)}::text[],
      ${twins.map((twin) => twin.takenBy)}::text[]) as n(e, i, t)
    where k.entity_id = n.e and k.resource_id = n.t`)
