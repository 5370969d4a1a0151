import type { BlockRef } from '#chains/facets/blocks'
import type { Expiry } from '#chains/facets/lifetimes'
import { isHalted } from '#engines/indexer/index'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { claimInTurns } from '#runtime/turns/claim'
import { type Turn, takeInTurns } from '#runtime/turns/store'
import { isMerged, signingLock } from './journals.ts'

/** One signed transaction of an intent, as it is stored before its first byte leaves. */
export type NewAttempt = {
  entityId: string
  id: string
  transactionId: string
  blockchain: string
  address: string
  nonce: number
  /** `cancel` and `noop` move nothing: a cancel replaces the requested call, a no-op uses a nonce that was left unused. */
  kind: 'original' | 'bump' | 'cancel' | 'noop'
  /** The attempt whose nonce this one takes over. */
  replacesId: string | null
  txHash: string
  raw: Buffer
  gasLimit: bigint
  maxFeeAtomic: bigint
  priorityFeeAtomic: bigint
  /** The highest fee that it may cost, and the coins that it takes from the payer of that beside it. */
  feeMaxAtomic: bigint
  depositAtomic: bigint
  /** The expiry of its bytes, where they have one, and the newest applied block when bytes of this expiry were signed first. */
  life?: Life | undefined
}

/** How long signed bytes live; `signedAt` is a height. */
export type Life = Expiry & { signedAt: number }

/**
 * Takes the lock under which nonces of one address are assigned; every signer takes it first. False while another process
 * holds it, while journals are unmerged, and while the chain is halted.
 */
export const lockNonces = async (tx: Db, blockchain: string, address: string): Promise<boolean> =>
  (await lockNoncesOf(tx, blockchain, [address])).has(address)

/** The same for several addresses. Returns those whose lock was free. */
export async function lockNoncesOf(
  tx: Db,
  blockchain: string,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const nonces = sql`pg_try_advisory_xact_lock(hashtextextended(${`nonce:${blockchain}:`} || n.address, 0))`
  const rows = await tx.all<{
    address: string
    got: boolean
  }>(sql`select n.address, ${signingLock} and ${nonces} as got
    from unnest(${addresses}::text[]) as n(address)`)
  const locked = new Set(rows.filter(({ got }) => got).map(({ address }) => address))
  // Separate statements, which see merges and halts that were committed before the locks were taken.
  const maySign = locked.size > 0 && (await isMerged(tx)) && !(await isHalted(tx, blockchain))
  return maySign ? locked : new Set()
}

/** Throws when the connection is lost or the `tx` was aborted. */
export const requireConnection = (tx: Db) => tx.one(sql`select 1 as yes`)

export type NonceState = {
  /** The nonce after the highest one assigned. */
  next: number
  /** Nonces below `next` that are unused on the chain and that no attempt was signed for, lowest first. */
  free: number[]
  /** Number of attempts that are signed or sent, and in no block. */
  open: number
}

const freeMax = 1_000

/** An address whose nonces are assigned. `chainNonce` is the number of nonces used on the chain, where it counts them. */
export type NonceLane = { address: string; chainNonce: number | undefined }

export const nonceState = async (
  db: Db,
  blockchain: string,
  entityId: string,
  lane: NonceLane,
): Promise<NonceState> => (await nonceStates(db, blockchain, entityId, [lane])).get(lane.address)!

/**
 * The state of each address of an entity. A nonce below `next` without an attempt is rare: a restored database lost bytes that were
 * never sent, or a reorg lowered the chain's count. All later nonces would wait for it.
 */
export async function nonceStates(
  db: Db,
  blockchain: string,
  entityId: string,
  lanes: readonly NonceLane[],
): Promise<ReadonlyMap<string, NonceState>> {
  const own = sql`a.entity_id = ${entityId} and a.blockchain = ${blockchain} and a.address = n.address`
  const rows = await db.all<NonceState & { address: string }>(sql`select n.address, known.next, o.open,
      case when n.used is null then '{}'::float8[] else array(
        select g.nonce::float8 from generate_series(n.used, known.next - 1) g(nonce)
        where (select count(distinct a.nonce) from attempts a where ${own} and a.nonce >= n.used) < known.next - n.used
          and not exists (select 1 from attempts a where ${own} and a.nonce = g.nonce)
        order by g.nonce limit ${freeMax}) end as free
    from unnest(${lanes.map(({ address }) => address)}::text[],
      ${lanes.map(({ chainNonce }) => chainNonce ?? null)}::int8[]) as n(address, used)
    cross join lateral (select coalesce(max(a.nonce) + 1, 0)::int8 as next from attempts a where ${own}) known
    cross join lateral (select count(*) as open from attempts a where ${own} and a.state in ('signed', 'sent')) o`)
  return new Map(rows.map(({ address, ...state }) => [address, state]))
}

/**
 * Assigns the nonces: the unique key over (entity, chain, address, nonce) of attempts that replace no other prevents a second
 * assignment. Replaced attempts are no longer sent, but may still be mined.
 */
export async function insertAttempts(tx: Db, nowMs: number, rows: readonly NewAttempt[]): Promise<void> {
  await tx.run(sql`insert into attempts (entity_id, id, transaction_id, blockchain, address, nonce, kind, replaces_id, tx_hash,
      raw_transaction, gas_limit, max_fee, priority_fee, fee_max, deposit, expires_ms, last_height, signed_at, state, create_date)
    select e, i, t, b, a, n, k, x, h, r, g, m, p, f, d, l, o, s, 'signed', ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.transactionId)}::uuid[], ${rows.map((row) => row.blockchain)}::text[],
      ${rows.map((row) => row.address)}::text[], ${rows.map((row) => row.nonce)}::int8[],
      ${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.replacesId)}::uuid[],
      ${rows.map((row) => row.txHash)}::text[], ${rows.map((row) => row.raw)}::bytea[],
      ${rows.map((row) => row.gasLimit.toString())}::numeric[], ${rows.map((row) => row.maxFeeAtomic.toString())}::numeric[],
      ${rows.map((row) => row.priorityFeeAtomic.toString())}::numeric[],
      ${rows.map((row) => row.feeMaxAtomic.toString())}::numeric[], ${rows.map((row) => row.depositAtomic.toString())}::numeric[],
      ${rows.map((row) => row.life?.expiresMs ?? null)}::int8[], ${rows.map((row) => row.life?.lastHeight ?? null)}::int8[],
      ${rows.map((row) => row.life?.signedAt ?? null)}::int8[])
      as row(e, i, t, b, a, n, k, x, h, r, g, m, p, f, d, l, o, s)`)
  const replacing = rows.filter((row) => row.replacesId !== null)
  if (replacing.length > 0)
    await tx.run(sql`update attempts a set state = 'replaced'
      from unnest(${replacing.map((row) => row.entityId)}::uuid[], ${replacing.map((row) => row.replacesId)}::uuid[]) as n(e, i)
      where a.entity_id = n.e and a.id = n.i and a.state in ('signed', 'sent')`)
}

/** The newest bytes that were signed for the call of a transaction. */
export const signedBytesOf = (db: Db, { entityId, id }: { entityId: string; id: string }) =>
  db.all<{ nonce: number; raw: Buffer }>(sql`select nonce, raw_transaction as raw from attempts
    where entity_id = ${entityId} and transaction_id = ${id} and kind in ('original', 'bump')
    order by max_fee desc limit 1`)

/** Whether another attempt took over its nonce. Under `lockNonces` the answer holds until the `tx` ends. */
export const isReplaced = async (tx: Db, entityId: string, id: string): Promise<boolean> =>
  (
    await tx.one<{ yes: boolean }>(
      sql`select exists (select 1 from attempts where entity_id = ${entityId} and replaces_id = ${id}) as yes`,
    )
  ).yes

export type ClaimedAttempt = {
  entityId: string
  id: string
  transactionId: string
  kind: NewAttempt['kind']
  address: string
  nonce: number
  txHash: string
  raw: Buffer
  fencingToken: number
  broadcastCount: number
  state: 'signed' | 'sent'
}

/**
 * Claims attempts that are due to be sent (or sent again), in nonce order, for `leaseMs` of database time; none while the
 * chain is halted. Entities take turns.
 */
export async function claimDueAttempts(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
  leaseMs: number,
): Promise<ClaimedAttempt[]> {
  const claim = {
    from: sql`attempts q`,
    alias: 'q',
    where: () => sql`q.blockchain = ${blockchain} and q.state in ('signed', 'sent') and q.death_proof is null
      and (q.lease_until is null or q.lease_until < now())
      and not exists (select 1 from halted_chains h where h.blockchain = ${blockchain})`,
    order: sql`q.address, q.nonce`,
    columns: sql`q.id`,
    change: (entityId: string) => sql`update attempts a
      set lease_until = now() + ${leaseMs} * interval '1 millisecond', fencing_token = a.fencing_token + 1,
        broadcast_count = a.broadcast_count + 1
      from taken where a.entity_id = ${entityId} and a.id = taken.id
      returning a.entity_id, a.id, a.transaction_id, a.kind, a.tx_hash, a.raw_transaction as raw, a.fencing_token,
        a.broadcast_count, a.state, a.address, a.nonce`,
  }
  const rows = await claimInTurns<ClaimedAttempt>(db, turn, claim, limit)
  return rows.sort((a, b) => (a.address === b.address ? a.nonce - b.nonce : a.address < b.address ? -1 : 1))
}

/** Bytes whose expiry has passed: in flight, or refused, which a node may have kept nevertheless. */
export type ExpiredAttempt = {
  entityId: string
  id: string
  transactionId: string
  kind: NewAttempt['kind']
  address: string
  nonce: number
  txHash: string
  expiresMs: number | null
  lastHeight: number | null
  signedAt: number
  state: 'signed' | 'sent' | 'rejected'
}

const mayBeTaken = sql`('signed', 'sent', 'rejected')`

/** Attempts in flight or refused whose lives end up to a block of their chain; entities take turns. */
export async function expiredAttempts(
  db: Db,
  turn: Turn,
  blockchain: string,
  upTo: Pick<BlockRef, 'number' | 'timeMs'>,
  limit: number,
): Promise<ExpiredAttempt[]> {
  const where = sql`q.blockchain = ${blockchain} and q.state in ${mayBeTaken} and q.death_proof is null
    and (q.expires_ms <= ${upTo.timeMs} or q.last_height <= ${upTo.number})`
  const take = (entityId: string, max: number) =>
    db.all<ExpiredAttempt>(sql`select q.entity_id, q.id, q.transaction_id, q.kind, q.address, q.nonce, q.tx_hash, q.state,
      q.expires_ms::float8 as expires_ms, q.last_height::float8 as last_height, q.signed_at::float8 as signed_at
    from attempts q where q.entity_id = ${entityId} and ${where}
    order by q.expires_ms, q.last_height, q.address, q.nonce limit ${max}`)
  return takeInTurns(db, turn, { from: sql`attempts q`, where, take }, limit)
}

/** Records the proof that no block can have these bytes; false where a block has, or others have replaced them. */
export const markDead = async (
  tx: Db,
  { entityId, id }: { entityId: string; id: string },
  deathProof: string,
): Promise<boolean> =>
  (await tx.run(sql`update attempts set death_proof = ${deathProof}::jsonb
    where entity_id = ${entityId} and id = ${id} and state in ${mayBeTaken} and death_proof is null`)) > 0

/** Records that nothing is sent any more of dead bytes, and that nothing takes their place. */
export const markEnded = (tx: Db, { entityId, id }: { entityId: string; id: string }) =>
  tx.run(sql`update attempts set state = 'displaced'
    where entity_id = ${entityId} and id = ${id} and death_proof is not null and state in ${mayBeTaken}`)

/** Records that another transaction used the nonce of refused bytes. */
export const markRefusedDisplaced = (tx: Db, { entityId, id }: { entityId: string; id: string }) =>
  tx.run(sql`update attempts set state = 'displaced'
    where entity_id = ${entityId} and id = ${id} and state = 'rejected'`)

/** The outcome of a broadcast and the block with its bytes update the same rows: one lock order prevents deadlocks. */
const inLockOrder = sql`order by l.address, l.nonce for no key update of l`

/**
 * Upper bound of attempts for one nonce: each costs a tenth more than the one before. The planner looks up a lateral with a
 * limit nonce by nonce; without table statistics, a plain join compares all in-flight attempts with a whole block.
 */
const attemptsPerNonceMax = 1_000

export type SendResult = {
  entityId: string
  id: string
  fencingToken: number
  state: 'signed' | 'sent' | 'rejected'
  /** Delay until it may be sent again. */
  retryInMs: number
  error: string | null
  /** `rejected`: the reason shown to the customer. */
  reason?: string
  /** Refused too often: the reason for which the transaction is cancelled for its owner. */
  cancelReason?: string
}

/** Records the outcomes of broadcasts; a worker that lost its claim meanwhile changes nothing. Returns the ids written. */
export async function recordSends(tx: Db, results: readonly SendResult[]): Promise<Set<string>> {
  const rows = await perEntity(results, (entityId, own) =>
    tx.all<{ id: string }>(sql`with locked as materialized (
      select n.*, now() + n.m * interval '1 millisecond' as until, now() as at, l.state as was, l.fencing_token as token
      from unnest(${own.map((row) => row.id)}::uuid[],
        ${own.map((row) => row.fencingToken)}::int8[], ${own.map((row) => row.state)}::text[],
        ${own.map((row) => row.retryInMs)}::int8[], ${own.map((row) => row.error)}::text[]) as n(i, f, s, m, r)
      join attempts l on l.entity_id = ${entityId} and l.id = n.i ${inLockOrder}
    )
    update attempts a set state = n.s, lease_until = n.until, last_error = n.r,
      accepted_at = case when n.s = 'sent' then coalesce(a.accepted_at, n.at) else a.accepted_at end
    from locked n where a.entity_id = ${entityId} and a.id = n.i and n.token = n.f and n.was in ('signed', 'sent')
    returning a.id`),
  )
  return new Set(rows.map((row) => row.id))
}

type AttemptRef = {
  entityId: string
  id: string
  transactionId: string
  kind: NewAttempt['kind']
  txHash: string
}

/** Marks the attempts with these hashes as mined and returns them. Nothing else of their nonces is sent: no block can contain it now. */
export const markAttemptsMined = (
  tx: Db,
  blockchain: string,
  hashes: readonly { entityId: string; txHash: string }[],
): Promise<AttemptRef[]> =>
  perEntity(hashes, async (entityId, own) => {
    const mined = await tx.all<AttemptRef>(sql`with locked as materialized (
      select l.id from unnest(${own.map((row) => row.txHash)}::text[]) as n(h)
      join attempts l on l.entity_id = ${entityId} and l.blockchain = ${blockchain} and l.tx_hash = n.h ${inLockOrder}
    )
    update attempts a set state = 'mined' from locked n where a.entity_id = ${entityId} and a.id = n.id
    returning a.entity_id, a.id, a.transaction_id, a.kind, a.tx_hash`)
    // A statement of its own, which sees what was signed while the first one waited for its locks.
    await tx.run(sql`with locked as materialized (
      select l.id from unnest(${mined.map(({ id }) => id)}::uuid[]) as n(i)
      join attempts m on m.entity_id = ${entityId} and m.id = n.i
      cross join lateral (select s.id from attempts s where s.entity_id = ${entityId}
        and s.blockchain = ${blockchain} and s.address = m.address and s.nonce = m.nonce and s.id <> m.id
        and s.state in ('signed', 'sent') order by s.nonce limit ${attemptsPerNonceMax}) o
      join attempts l on l.entity_id = ${entityId} and l.id = o.id ${inLockOrder}
    )
    update attempts a set state = 'replaced' from locked n where a.entity_id = ${entityId} and a.id = n.id`)
    return mined
  })

/**
 * Handles an orphaned block: for each nonce, the last bytes signed are due to be sent again at once. Returns the attempts
 * that the block contained.
 */
export const reviveOrphaned = (
  tx: Db,
  blockchain: string,
  hashes: readonly { entityId: string; txHash: string }[],
) =>
  perEntity(hashes, async (entityId, own) => {
    const orphaned = await tx.all<AttemptRef>(sql`with locked as materialized (
      select l.id from unnest(${own.map((row) => row.txHash)}::text[]) as n(h)
      join attempts l on l.entity_id = ${entityId} and l.blockchain = ${blockchain} and l.tx_hash = n.h and l.state = 'mined'
      ${inLockOrder}
    )
    update attempts a set state = 'replaced' from locked n where a.entity_id = ${entityId} and a.id = n.id
    returning a.entity_id, a.id, a.transaction_id, a.kind, a.tx_hash`)
    if (orphaned.length === 0) return []
    await tx.run(sql`update attempts a set state = 'signed', lease_until = null
    from unnest(${orphaned.map((row) => row.id)}::uuid[]) as n(i)
    join attempts m on m.entity_id = ${entityId} and m.id = n.i
    where a.entity_id = ${entityId} and a.id = (
      select s.id from attempts s where s.entity_id = ${entityId} and s.blockchain = m.blockchain
        and s.address = m.address and s.nonce = m.nonce and s.state = 'replaced'
      order by s.max_fee desc limit 1)`)
    return orphaned
  })

/**
 * Displaces the attempts whose nonces these final transactions used, unless the transaction is an attempt itself: no block
 * can contain them any more. Returns the displaced attempts.
 */
export const markDisplaced = (tx: Db, blockchain: string, used: readonly NonceUse[]) =>
  perEntity(used, (entityId, own) =>
    tx.all<AttemptRef>(sql`with used as (
      select * from unnest(${own.map((row) => row.address)}::text[], ${own.map((row) => row.nonce)}::int8[],
        ${own.map((row) => row.txHash)}::text[]) as n(a, k, h)
    ), outside as materialized (
      select n.* from used n left join lateral (select true as own from attempts o where o.entity_id = ${entityId}
        and o.blockchain = ${blockchain} and o.tx_hash = n.h limit 1) o on true
      where o.own is null
    ), locked as materialized (
      select l.id from outside n cross join lateral (select s.id from attempts s where s.entity_id = ${entityId}
        and s.blockchain = ${blockchain} and s.address = n.a and s.nonce = n.k
        and s.state in ('signed', 'sent', 'replaced') order by s.nonce limit ${attemptsPerNonceMax}) f
      join attempts l on l.entity_id = ${entityId} and l.id = f.id ${inLockOrder}
    )
    update attempts a set state = 'displaced' from locked n where a.entity_id = ${entityId} and a.id = n.id
    returning a.entity_id, a.id, a.transaction_id, a.kind, a.tx_hash`),
  )

/** Returns the ids of the transactions of displaced attempts that other attempts carry out, with other nonces. */
export async function inFlightElsewhere(
  tx: Db,
  displaced: readonly Pick<AttemptRef, 'entityId' | 'transactionId'>[],
): Promise<Set<string>> {
  const rows = await perEntity(displaced, (entityId, own) =>
    tx.all<{ id: string }>(sql`select distinct a.transaction_id as id from attempts a
    where a.entity_id = ${entityId} and a.transaction_id = any(${own.map((row) => row.transactionId)}::uuid[])
      and a.kind <> 'noop' and a.state in ('signed', 'sent', 'mined')`),
  )
  return new Set(rows.map(({ id }) => id))
}

export type NonceUse = { entityId: string; address: string; nonce: number; txHash: string }
