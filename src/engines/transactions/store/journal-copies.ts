import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import type { Ref } from './transactions.ts'

/** An attempt with its rows as JSON text, in which numbers keep every digit. */
export type AttemptCopy = {
  entityId: string
  transactionId: string
  attemptId: string
  blockchain: string
  address: string
  nonce: number
  kind: string
  replacesId: string | null
  txHash: string
  /** With the signed bytes. */
  attempt: string
  transaction: string
}

/** Upper bound of attempts for one nonce: each replacement costs a tenth more than the attempt it replaces. */
const attemptsPerNonceMax = 1_000

/** Copies the attempts with all that they replace, in the order in which they were signed. */
export const copyAttempts = (db: Db, refs: readonly Ref[]) =>
  perEntity(refs, (entityId, own) =>
    db.all<AttemptCopy>(sql`with asked as (
      select a.* from attempts a where a.entity_id = ${entityId} and a.id = any(${own.map((ref) => ref.id)}::uuid[])
    ), lines as (
      select * from asked
      union
      select o.* from asked n cross join lateral (select * from attempts r where n.replaces_id is not null
        and r.entity_id = ${entityId} and r.blockchain = n.blockchain and r.address = n.address and r.nonce = n.nonce
        and r.max_fee < n.max_fee order by r.max_fee limit ${attemptsPerNonceMax}) o
    )
    select l.entity_id, l.transaction_id, l.id as attempt_id, l.blockchain, l.address, l.nonce, l.kind, l.replaces_id,
      l.tx_hash, row_to_json(l)::text as attempt,
      row_to_json(t)::text as transaction
    from lines l cross join lateral (select * from transactions o where o.entity_id = ${entityId}
      and o.id = l.transaction_id limit 1) t
    order by l.address, l.nonce, l.max_fee`),
  )

/** Returns the ids of the attempts that are missing in the database. */
export async function missingAttempts(db: Db, refs: readonly Ref[]): Promise<Set<string>> {
  const rows = await perEntity(refs, (entityId, own) =>
    db.all<{ id: string }>(sql`select n.i as id from unnest(${own.map((ref) => ref.id)}::uuid[]) as n(i)
    where not exists (select 1 from attempts a where a.entity_id = ${entityId} and a.id = n.i)`),
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Restores transactions whose bytes may have been sent: missing ones are inserted as QUEUED, and existing ones that are not
 * in flight return to QUEUED. The last copy of each counts.
 */
export async function restoreTransactions(tx: Db, copies: readonly string[]): Promise<void> {
  const given = sql`unnest(${copies}::text[]) as n(text)`
  await tx.run(sql`insert into transactions select r.* from ${given},
      row_of_copy(null::transactions, (n.text::jsonb - 'requested_replacement') || '{"state": "QUEUED"}') r
    on conflict (entity_id, id) do nothing`)
  await tx.run(sql`update transactions t set tx_hash = coalesce(c.j->>'tx_hash', t.tx_hash),
      estimated_fee = coalesce(c.j->'estimated_fee', t.estimated_fee),
      contract_address = coalesce(c.j->>'contract_address', t.contract_address), fee_payer = c.j->>'fee_payer', error_reason = null, error_details = null,
      state = case when t.state in ('INITIATED', 'CLEARED', 'CANCELLED', 'DENIED', 'FAILED') then 'QUEUED' else t.state end
    from (select n.text::jsonb as j from ${given}) c
    where t.entity_id = (c.j->>'entity_id')::uuid and t.id = (c.j->>'id')::uuid
      and t.state not in ('CONFIRMED', 'COMPLETE')`)
}

/**
 * Marks attempts as possibly sent: the first broadcast recorded here may not be the first one, so its refusal is not final.
 */
export const markMaybeSent = (tx: Db, refs: readonly Ref[]) =>
  tx.run(sql`update attempts a set broadcast_count = 1
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    where a.entity_id = n.e and a.id = n.i and a.broadcast_count = 0`)

/** Restores attempts, due to be sent. Returns those inserted; another attempt may have taken the nonce meanwhile. */
export async function restoreAttempts(tx: Db, copies: readonly AttemptCopy[]): Promise<Set<string>> {
  const rows = await tx.all<{ id: string }>(sql`insert into attempts select r.*
    from unnest(${copies.map((copy) => copy.attempt)}::text[]) as n(text),
      row_of_copy(null::attempts, (n.text::jsonb - '{lease_until,last_error}'::text[])
        || '{"state": "signed"}') r
    on conflict do nothing returning id`)
  const ids = rows.map(({ id }) => id)
  await tx.run(sql`update attempts a set state = 'replaced'
    from unnest(${copies.map((copy) => copy.entityId)}::uuid[], ${copies.map((copy) => copy.attemptId)}::uuid[]) as n(e, i)
    join attempts b on b.entity_id = n.e and b.id = n.i
    where a.entity_id = b.entity_id and a.id = b.replaces_id and a.state in ('signed', 'sent')`)
  return new Set(ids)
}

/** Returns the ids of the transactions that are in flight. */
export async function inFlightIds(db: Db, refs: readonly Ref[]): Promise<Set<string>> {
  const rows = await db.all<{ id: string }>(sql`select t.id
    from unnest(${refs.map((ref) => ref.entityId)}::uuid[], ${refs.map((ref) => ref.id)}::uuid[]) as n(e, i)
    join transactions t on t.entity_id = n.e and t.id = n.i where t.state in ('QUEUED', 'SENT', 'STUCK')`)
  return new Set(rows.map(({ id }) => id))
}

/** Returns the ids of the transactions that nothing was ever signed for, locked to stay so until the `tx` ends. */
export async function lockNeverSigned(tx: Db, refs: readonly Ref[]): Promise<Set<string>> {
  const rows = await perEntity(refs, (entityId, own) =>
    tx.all<{ id: string }>(sql`select t.id from transactions t
    where t.entity_id = ${entityId} and t.id = any(${own.map((ref) => ref.id)}::uuid[])
      and t.state in ('INITIATED', 'CLEARED', 'QUEUED') and t.tx_hash is null
      and not exists (select 1 from attempts a where a.entity_id = ${entityId} and a.transaction_id = t.id)
    order by t.id for no key update of t`),
  )
  return new Set(rows.map(({ id }) => id))
}
