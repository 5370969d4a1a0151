import type { FailedTransaction } from '#engines/failed-transactions'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'
import { finallyFailed } from './movements.ts'

/** The intents that were signed together and are burned together on one source. */
export type Burn = { transferId: string; entry: number; blockchain: string }

/** Inserts the burns of transfers whose mints are final, unless they are there; returns the chains. */
export const insertBurns = async (
  tx: Db,
  nowMs: number,
  transferIds: readonly string[],
): Promise<string[]> => {
  const rows = await tx.all<{
    blockchain: string
  }>(sql`insert into unified_burns (transfer_id, entry, blockchain, due_at)
    select distinct transfer_id, entry, blockchain, ${formatInstant(nowMs)}::timestamptz from unified_intents
    where transfer_id = any(${transferIds}::uuid[]) on conflict do nothing returning blockchain`)
  return [...new Set(rows.map(({ blockchain }) => blockchain))]
}

export type DueBurn = Burn & {
  intents: Buffer
  signature: Buffer
  /** The digest that this server signs in the name of a contract; null where a key signed. */
  digest: Buffer | null
  failures: number
}

/** Claims burns that are due, oldest first, until the `tx` ends. */
export const claimBurns = (tx: Db, nowMs: number, blockchain: string, limit: number) =>
  tx.all<DueBurn>(sql`select b.transfer_id, b.entry, b.blockchain, b.failures, s.intents, s.signature, s.digest
    from unified_burns b join unified_signed_intents s on s.transfer_id = b.transfer_id and s.entry = b.entry
    where b.blockchain = ${blockchain} and b.state = 'waiting' and b.due_at <= ${formatInstant(nowMs)}
    order by b.due_at, b.transfer_id, b.entry limit ${limit} for update of b skip locked`)

/** Whether a burn waits, due or not. */
export const burnsWait = async (db: Db, blockchain: string): Promise<boolean> =>
  (await db.maybe(
    sql`select 1 from unified_burns where blockchain = ${blockchain} and state = 'waiting' limit 1`,
  )) !== undefined

/** Records the transaction that carries a burn. */
export const markSent = (tx: Db, { transferId, entry, blockchain }: Burn, batchId: string, payer: string) =>
  tx.run(sql`update unified_burns set state = 'sent', batch_id = ${batchId}, payer_entity_id = ${payer}
    where transfer_id = ${transferId} and entry = ${entry} and blockchain = ${blockchain}`)

/** The fees of all intents that were signed together, in their order. */
export const feesOf = async (tx: Db, transferId: string, entry: number): Promise<bigint[]> => {
  const rows = await tx.all<{ feeAtomic: bigint }>(sql`select fee as fee_atomic from unified_intents
    where transfer_id = ${transferId} and entry = ${entry} order by position`)
  return rows.map(({ feeAtomic }) => feeAtomic)
}

/** Ends the burns all of whose intents on their chain are burned, and takes up those that were ended and are not any more. */
export const settleBurns = (tx: Db, specHashes: readonly string[]) =>
  tx.run(sql`update unified_burns b set state = case when left_over.some then 'sent' else 'done' end
    from (select transfer_id, entry, blockchain, bool_or(state <> 'burned') as some from unified_intents
      where (transfer_id, entry, blockchain) in (select transfer_id, entry, blockchain from unified_intents
        where spec_hash = any(${specHashes}::text[]))
      group by transfer_id, entry, blockchain) left_over
    where b.transfer_id = left_over.transfer_id and b.entry = left_over.entry and b.blockchain = left_over.blockchain`)

type FailedBurn = Burn & {
  batchId: string
  failures: number
  failure: FailedTransaction
}

type SentBurn = Omit<FailedBurn, 'failure'> & { payerEntityId: string }

/** Locks the burns whose transactions ended without effect, in a block that is complete or in none. */
export async function lockFailedBurns(tx: Db, blockchain: string, limit: number): Promise<FailedBurn[]> {
  const sent =
    await tx.all<SentBurn>(sql`select transfer_id, entry, blockchain, batch_id, failures, payer_entity_id
    from unified_burns where blockchain = ${blockchain} and state = 'sent' order by transfer_id, entry`)
  const batches = sent.map(({ payerEntityId, batchId }) => ({ entityId: payerEntityId, id: batchId }))
  const failures = await finallyFailed(tx, blockchain, batches)
  const failed = sent
    .flatMap(({ payerEntityId, ...burn }): FailedBurn[] => {
      const failure = failures.get(burn.batchId)
      return failure ? [{ ...burn, failure }] : []
    })
    .slice(0, limit)
  if (failed.length === 0) return []
  const locked = await tx.all<{ place: number }>(sql`select n.k - 1 as place
    from unnest(${failed.map((burn) => burn.transferId)}::uuid[], ${failed.map((burn) => burn.entry)}::integer[],
      ${failed.map((burn) => burn.batchId)}::uuid[]) with ordinality as n(t, e, b, k)
    join unified_burns b on b.transfer_id = n.t and b.entry = n.e and b.blockchain = ${blockchain} and b.batch_id = n.b
    where b.state = 'sent' order by b.transfer_id, b.entry for update of b skip locked`)
  return locked.map(({ place }) => failed[place]!)
}

export const postponeBurn = (tx: Db, { transferId, entry, blockchain }: Burn, dueAt: string) =>
  tx.run(sql`update unified_burns set state = 'waiting', failures = failures + 1, due_at = ${dueAt}
    where transfer_id = ${transferId} and entry = ${entry} and blockchain = ${blockchain}`)

/** Burns of transfers that are due or wait for their next attempt. */
export const unifiedBalanceBurn: BusinessTimer = {
  name: 'unifiedBalanceBurn',
  next: (db, limit) =>
    db.all<DueResource>(sql`select transfer_id as resource_id, due_at as due_date from unified_burns
      where state = 'waiting' order by due_at limit ${limit}`),
}
