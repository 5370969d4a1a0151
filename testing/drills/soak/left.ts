import type { Database } from '#runtime/db/db'
import { raw, sql } from '#runtime/db/db'

/** Everything that is accepted and has not ended, by what it is: none of it may be left once load and faults are over. */
const open: Record<string, string> = {
  transactions: `select 1 from transactions where state not in ('COMPLETE', 'FAILED', 'CANCELLED', 'DENIED')`,
  attempts: `select 1 from attempts where state in ('signed', 'sent')`,
  grants: 'select 1 from grants',
  holds: `select 1 from holds h where not exists (select 1 from hold_resolutions r where r.entity_id = h.entity_id and r.hold_id = h.id)`,
  payments: `select 1 from payments where status not in ('paid', 'failed', 'action_required')`,
  payouts: `select 1 from payouts where status = 'pending'`,
  'business transfers': `select 1 from transfers where status in ('pending', 'running')`,
  'payout batches': `select 1 from payout_batches where state = 'approved'`,
  'user operations': `select 1 from user_operations where state not in ('COMPLETE', 'FAILED')`,
  'modular transfers': `select 1 from modular_transfers where state = 'CONFIRMED'`,
  'payments by x402': 'select 1 from x402_payments where submit_date is null and refusal is null',
  messages: `select 1 from messages where state = 'pending'`,
  'unified transfers': `select 1 from unified_transfers where state in ('pending', 'confirmed')`,
  'unified burns': `select 1 from unified_burns where state <> 'done'`,
  'unified payments': `select 1 from unified_payments where state not in ('completed', 'failed')`,
  'events to notify of': 'select 1 from queued_events',
  'changes to link': 'select 1 from unlinked_audit',
  'flow to count': 'select 1 from uncounted_flow',
  'event histories': 'select 1 from event_histories where reached_date is null',
  'gaps in books': 'select 1 from open_gaps',
  'gaps in money': 'select 1 from money_gaps',
}

/** Number of each kind that is left, without those of which none is. */
export async function leftOpen(database: Database): Promise<Map<string, number>> {
  const left = new Map<string, number>()
  for (const [name, query] of Object.entries(open)) {
    const { n } = await database.one<{ n: number }>(sql`select count(*)::int as n from (${raw(query)}) found`)
    if (n > 0) left.set(name, n)
  }
  return left
}

/** Blocks that engines have not followed yet. */
export const stepsBehind = async (database: Database): Promise<number> =>
  (
    await database.one<{
      behind: number
    }>(sql`select coalesce(sum(newest.step - coalesce(c.step, 0)), 0)::int as behind
      from (select blockchain, max(step) as step from block_steps group by 1) newest
      join step_cursors c on c.blockchain = newest.blockchain`)
  ).behind

export type Deliveries = { delivered: number; waiting: number; unrecorded: number }

/** Webhooks by what became of them: one that waits and was tried has its refusal recorded. */
export const deliveriesOf = (database: Database): Promise<Deliveries> =>
  database.one<Deliveries>(sql`select
    count(*) filter (where d.state = 'delivered')::int as delivered,
    count(*) filter (where d.state = 'waiting')::int as waiting,
    count(*) filter (where d.state <> 'delivered' and not exists (select 1 from notification_attempts a
      where a.entity_id = d.entity_id and a.subscription_id = d.subscription_id and a.message_id = d.message_id))::int
      as unrecorded
    from notification_deliveries d`)

export type TableSize = { name: string; rows: number; bytes: number }

/** Size of each table, with its indexes. */
export const tableSizes = (database: Database): Promise<readonly TableSize[]> =>
  database.all<TableSize>(sql`select relname as name, n_live_tup::float8 as rows,
    pg_total_relation_size(relid)::float8 as bytes from pg_stat_user_tables order by 3 desc`)
