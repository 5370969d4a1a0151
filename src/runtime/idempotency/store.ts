import { type Db, sql } from '#runtime/db/db'

/** A key binds one accepted request of one operation to the resource it made, for good. */
export type Binding = { fingerprint: Buffer; resourceId: string | null }

export type BindingKey = { entityId: string; operation: string; key: string }

export const findBinding = (db: Db, { entityId, operation, key }: BindingKey) =>
  db.maybe<Binding>(sql`select fingerprint, resource_id as "resourceId" from idempotency_keys
    where entity_id = ${entityId} and operation = ${operation} and key = ${key}`)

/**
 * Claims the key inside the `tx` that does the work. A concurrent twin waits here until this one has
 * committed or rolled back; `false` means the twin committed first.
 */
export async function claimBinding(
  tx: Db,
  binding: BindingKey,
  fingerprint: Buffer,
  nowMs: number,
): Promise<boolean> {
  const count =
    await tx.run(sql`insert into idempotency_keys (entity_id, operation, key, fingerprint, create_date)
    values (${binding.entityId}, ${binding.operation}, ${binding.key}, ${fingerprint}, ${new Date(nowMs).toISOString()})
    on conflict do nothing`)
  return count === 1
}

export async function bindResource(tx: Db, binding: BindingKey, resourceId: string): Promise<void> {
  await tx.run(sql`update idempotency_keys set resource_id = ${resourceId}
    where entity_id = ${binding.entityId} and operation = ${binding.operation} and key = ${binding.key}`)
}
