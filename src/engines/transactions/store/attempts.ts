import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

/** One signed transaction of an intent, as it is stored before its first byte leaves. */
export type NewAttempt = {
  entityId: string
  id: string
  transactionId: string
  blockchain: string
  address: string
  nonce: number
  /** `filler`: moves nothing, and uses a nonce that refused bytes left below others that wait for it. */
  kind: 'original' | 'filler'
  txHash: string
  raw: Buffer
  gasLimit: bigint
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
}

/** The lock under which nonces of one address are given out; false while another process does. */
export const lockNonces = async (tx: Db, blockchain: string, address: string) =>
  (
    await tx.one<{ got: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended(${`nonce:${blockchain}:${address}`}, 0)) as got`,
    )
  ).got

/** Throws when the connection is lost or the `tx` was aborted. */
export const stillAnswers = (tx: Db) => tx.one(sql`select 1 as yes`)

export type NonceState = {
  /** The nonce after the highest one used. */
  next: number
  /** Used by bytes that no node ever took, so that they are free again, lowest first. */
  free: number[]
  /** Signed or sent, and not seen in a block. */
  open: number
}

export async function nonceState(tx: Db, blockchain: string, address: string): Promise<NonceState> {
  return tx.one<NonceState>(sql`select
    coalesce((select max(nonce) + 1 from attempts where blockchain = ${blockchain} and address = ${address}
      and state <> 'rejected'), 0)::int8 as next,
    array(select distinct r.nonce::float8 from attempts r where r.blockchain = ${blockchain} and r.address = ${address}
      and r.state = 'rejected' and not exists (select 1 from attempts a where a.blockchain = r.blockchain
        and a.address = r.address and a.nonce = r.nonce and a.state <> 'rejected') order by 1) as free,
    (select count(*) from attempts where blockchain = ${blockchain} and address = ${address}
      and state in ('signed', 'sent')) as open`)
}

/** Uses the nonces: the unique key over (chain, address, nonce) is what gives them out. */
export async function insertAttempts(tx: Db, nowMs: number, rows: readonly NewAttempt[]): Promise<void> {
  await tx.run(sql`insert into attempts (entity_id, id, transaction_id, blockchain, address, nonce, kind, tx_hash,
      raw_transaction, gas_limit, max_fee, priority_fee, state, create_date)
    select e, i, t, b, a, n, k, h, r, g, m, p, 'signed', ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.transactionId)}::uuid[], ${rows.map((row) => row.blockchain)}::text[],
      ${rows.map((row) => row.address)}::text[], ${rows.map((row) => row.nonce)}::int8[],
      ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => row.txHash)}::text[], ${rows.map((row) => row.raw)}::bytea[],
      ${rows.map((row) => row.gasLimit.toString())}::numeric[], ${rows.map((row) => row.maxFeeAtomic.toString())}::numeric[],
      ${rows.map((row) => row.priorityFeeAtomic.toString())}::numeric[]) as row(e, i, t, b, a, n, k, h, r, g, m, p)`)
}

export type Claimed = {
  entityId: string
  id: string
  transactionId: string
  kind: NewAttempt['kind']
  txHash: string
  raw: Buffer
  fencingToken: number
  broadcastCount: number
  state: 'signed' | 'sent'
}

/** Claims attempts that are due to be sent (or sent again), in nonce order, for `leaseMs` of database time. */
export async function claimUnsent(
  db: Db,
  blockchain: string,
  limit: number,
  leaseMs: number,
): Promise<Claimed[]> {
  const rows = await db.all<Claimed & { address: string; nonce: number }>(sql`update attempts a
    set lease_until = now() + ${leaseMs} * interval '1 millisecond', fencing_token = a.fencing_token + 1,
      broadcast_count = a.broadcast_count + 1
    from (select entity_id, id from attempts
      where blockchain = ${blockchain} and state in ('signed', 'sent') and (lease_until is null or lease_until < now())
      order by address, nonce limit ${limit} for update skip locked) due
    where a.entity_id = due.entity_id and a.id = due.id
    returning a.entity_id as "entityId", a.id, a.transaction_id as "transactionId", a.kind, a.tx_hash as "txHash",
      a.raw_transaction as raw, a.fencing_token as "fencingToken", a.broadcast_count as "broadcastCount", a.state,
      a.address, a.nonce`)
  return rows.sort((a, b) => (a.address === b.address ? a.nonce - b.nonce : a.address < b.address ? -1 : 1))
}

/** A sender's answer and the block that holds its bytes meet here: both lock in one order, so neither waits crosswise. */
const inLockOrder = sql`order by l.address, l.nonce for no key update of l`

export type SendResult = {
  entityId: string
  id: string
  fencingToken: number
  state: 'signed' | 'sent' | 'rejected'
  /** When it may be sent again. */
  againMs: number
  error: string | null
  /** `rejected`: what the customer is told. */
  reason?: string
}

/** Writes what sending came to; a worker that lost its claim meanwhile changes nothing. Returns the ids written. */
export async function recordSends(tx: Db, results: readonly SendResult[]): Promise<Set<string>> {
  const rows = await tx.all<{ id: string }>(sql`update attempts a
    set state = n.s, lease_until = now() + n.m * interval '1 millisecond', last_error = n.r
    from (select n.* from unnest(${results.map((row) => row.entityId)}::uuid[], ${results.map((row) => row.id)}::uuid[],
      ${results.map((row) => row.fencingToken)}::int8[], ${results.map((row) => row.state)}::text[],
      ${results.map((row) => row.againMs)}::int8[], ${results.map((row) => row.error)}::text[]) as n(e, i, f, s, m, r)
      join attempts l on l.entity_id = n.e and l.id = n.i ${inLockOrder}) n
    where a.entity_id = n.e and a.id = n.i and a.fencing_token = n.f and a.state in ('signed', 'sent')
    returning a.id`)
  return new Set(rows.map((row) => row.id))
}

export type AttemptRef = {
  entityId: string
  id: string
  transactionId: string
  kind: NewAttempt['kind']
  txHash: string
}

/** The attempts behind these hashes; they are marked as mined. */
export const markMined = (
  tx: Db,
  blockchain: string,
  hashes: readonly { entityId: string; txHash: string }[],
) =>
  tx.all<AttemptRef>(sql`update attempts a set state = 'mined'
    from (select l.entity_id, l.id
      from unnest(${hashes.map((row) => row.entityId)}::uuid[], ${hashes.map((row) => row.txHash)}::text[]) as n(e, h)
      join attempts l on l.entity_id = n.e and l.blockchain = ${blockchain} and l.tx_hash = n.h
        and (l.state <> 'rejected' or not exists (select 1 from attempts o where o.entity_id = l.entity_id
          and o.blockchain = l.blockchain and o.tx_hash = l.tx_hash and o.state <> 'rejected'))
      ${inLockOrder}) n
    where a.entity_id = n.entity_id and a.id = n.id
    returning a.entity_id as "entityId", a.id, a.transaction_id as "transactionId", a.kind, a.tx_hash as "txHash"`)

/** Their block was orphaned: the same bytes are due to be sent again, at once. */
export const reviveAttempts = (
  tx: Db,
  blockchain: string,
  hashes: readonly { entityId: string; txHash: string }[],
) =>
  tx.all<AttemptRef>(sql`update attempts a set state = 'signed', lease_until = null
    from unnest(${hashes.map((row) => row.entityId)}::uuid[], ${hashes.map((row) => row.txHash)}::text[]) as n(e, h)
    where a.entity_id = n.e and a.blockchain = ${blockchain} and a.tx_hash = n.h and a.state = 'mined'
    returning a.entity_id as "entityId", a.id, a.transaction_id as "transactionId", a.kind, a.tx_hash as "txHash"`)

/** A nonce that nobody uses, and the transaction right above it that cannot be in a block before it is used. */
export type Gap = { address: string; nonce: number; entityId: string; transactionId: string }

export const gapsOf = (db: Db, blockchain: string, limit: number) =>
  db.all<Gap>(sql`select distinct on (r.address, r.nonce) r.address, r.nonce, l.entity_id as "entityId",
      l.transaction_id as "transactionId"
    from attempts r
    join lateral (select a.entity_id, a.transaction_id from attempts a where a.blockchain = r.blockchain
      and a.address = r.address and a.nonce > r.nonce and a.state in ('signed', 'sent') and a.kind = 'original'
      order by a.nonce limit 1) l on true
    where r.blockchain = ${blockchain} and r.state = 'rejected'
      and not exists (select 1 from attempts u where u.blockchain = r.blockchain and u.address = r.address
        and u.nonce = r.nonce and u.state <> 'rejected')
    order by r.address, r.nonce limit ${limit}`)
