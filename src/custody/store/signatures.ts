import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'

/** The subject of a signature: one nonce of one key on one chain. */
export type NonceRef = { entityId: string; address: string; blockchain: string; nonce: number }

/** A signed payload in the signing ledger; fees in wei per gas, digests of 32 bytes. */
export type PayloadRow = NonceRef & {
  digest: Buffer
  intentId: string
  noop: boolean
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
  /** The digest of the payload that it replaces; null for the first one of the nonce. */
  replaces: Buffer | null
  /** The time of the chain from which no block executes it, or the last height at which one can; absent where neither ends it. */
  expiresMs?: number | null | undefined
  lastHeight?: number | null | undefined
  /** The proof that the payload before it is in no block and can be in none, as JSON: another expiry needs it. */
  deathProof?: string | null | undefined
}

/** Maximum payloads read per nonce. Never reached: each replacement costs a tenth more than the one before. */
const lineMax = 1_000

type Dated = PayloadRow & { createDate: string }

const asked = (rows: readonly Dated[]) =>
  sql`unnest(${rows.map((row) => row.address)}::text[],
    ${rows.map((row) => row.blockchain)}::text[], ${rows.map((row) => row.nonce)}::int8[],
    ${rows.map((row) => row.digest)}::bytea[], ${rows.map((row) => row.intentId)}::uuid[],
    ${rows.map((row) => row.noop)}::boolean[], ${rows.map((row) => row.maxFeeAtomic.toString())}::numeric[],
    ${rows.map((row) => row.priorityFeeAtomic.toString())}::numeric[], ${rows.map((row) => row.replaces)}::bytea[],
    ${rows.map((row) => row.createDate)}::timestamptz[], ${rows.map((row) => row.expiresMs ?? null)}::int8[],
    ${rows.map((row) => row.lastHeight ?? null)}::int8[],    ${rows.map((row) => row.deathProof ?? null)}::jsonb[])
    as n(address, blockchain, nonce, digest, intent_id, noop, max_fee, priority_fee, replaces, create_date,
      expires_ms, last_height, death_proof)`

/**
 * Inserts each row at its place in the sequence of its nonce. A place that is taken stays unchanged, so the caller must
 * compare with `payloadsOf`. Throws when a replacement violates the rules of the table.
 */
export const insertInSequence = (tx: Db, rows: readonly Dated[]) =>
  perEntity(rows, (entityId, own) =>
    tx.all<
      NonceRef & { digest: Buffer; intentId: string; noop: boolean }
    >(sql`insert into signatures (entity_id, address, blockchain, nonce, ordinal, digest, intent_id, noop, max_fee,
      priority_fee, replaces, create_date, expires_ms, last_height, death_proof)
    select ${entityId}::uuid, n.address, n.blockchain, n.nonce, coalesce(last.ordinal + 1, 0), n.digest, n.intent_id, n.noop,
      n.max_fee, n.priority_fee, n.replaces, n.create_date, n.expires_ms, n.last_height, n.death_proof
    from ${asked(own)}
    left join lateral (select s.ordinal from signatures s where n.replaces is not null and s.entity_id = ${entityId}
      and s.address = n.address and s.blockchain = n.blockchain and s.nonce = n.nonce and s.digest = n.replaces
      limit 1) last on true
    order by n.address, n.blockchain, n.nonce
    on conflict (entity_id, address, blockchain, nonce, ordinal) do nothing
    returning entity_id, address, blockchain, nonce, digest, intent_id, noop`),
  )

/** All payloads signed for these nonces, in the order of their sequences. */
export const payloadsOf = (db: Db, refs: readonly NonceRef[]) =>
  perEntity(refs, (entityId, own) =>
    db.all<
      PayloadRow & { ordinal: number; createDate: string }
    >(sql`select s.entity_id, s.address, s.blockchain, s.nonce, s.ordinal, s.digest, s.intent_id, s.noop,
      s.max_fee as max_fee_atomic, s.priority_fee as priority_fee_atomic, s.replaces, s.create_date,
      s.expires_ms::float8 as expires_ms, s.last_height::float8 as last_height, s.death_proof::text as death_proof
    from unnest(${own.map((ref) => ref.address)}::text[], ${own.map((ref) => ref.blockchain)}::text[],
      ${own.map((ref) => ref.nonce)}::int8[]) as n(address, blockchain, nonce)
    cross join lateral (select * from signatures l where l.entity_id = ${entityId} and l.address = n.address
      and l.blockchain = n.blockchain and l.nonce = n.nonce order by l.ordinal limit ${lineMax}) s
    order by s.address, s.blockchain, s.nonce, s.ordinal`),
  )

/** A user operation signed for an intent. */
export type OperationRow = {
  entityId: string
  intentId: string
  blockchain: string
  address: string
  digest: Buffer
  createDate: string
}

/** Inserts each row with the next ordinal of its intent. */
export const insertOperations = (tx: Db, rows: readonly OperationRow[]) =>
  perEntity(rows, (entityId, own) =>
    tx.all(sql`insert into operation_signatures (entity_id, intent_id, ordinal, blockchain, address, digest, create_date)
    select ${entityId}::uuid, n.i, coalesce((select max(s.ordinal) + 1 from operation_signatures s
      where s.entity_id = ${entityId} and s.intent_id = n.i), 0), n.b, n.a, n.d, n.c
    from unnest(${own.map((row) => row.intentId)}::uuid[], ${own.map((row) => row.blockchain)}::text[],
      ${own.map((row) => row.address)}::text[], ${own.map((row) => row.digest)}::bytea[],
      ${own.map((row) => row.createDate)}::timestamptz[]) as n(i, b, a, d, c)`),
  )
