import { listTokens, type TokenFilters } from '#engines/ledger/tokens/index'
import { formatInstant } from '#lib/time'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'

export type MonitorScope = 'SELECTED' | 'MONITOR_ALL'

/** The entity's scope; `undefined` before its first choice. */
export const findMonitorScope = async (db: Db, entityId: string) =>
  (
    await db.maybe<{ scope: MonitorScope }>(
      sql`select scope from monitored_token_scopes where entity_id = ${entityId}`,
    )
  )?.scope

export const setMonitorScope = (tx: Db, entityId: string, scope: MonitorScope, nowMs: number) =>
  tx.run(sql`insert into monitored_token_scopes (entity_id, scope, update_date)
    values (${entityId}, ${scope}, ${formatInstant(nowMs)})
    on conflict (entity_id) do update set scope = excluded.scope, update_date = excluded.update_date`)

/** Adds monitored tokens; returns the number of those that were not monitored before. */
export const addMonitored = async (tx: Db, entityId: string, tokenIds: readonly string[], nowMs: number) => {
  const added = await tx.all(sql`insert into monitored_tokens (entity_id, token_id, create_date)
    select ${entityId}::uuid, t, ${formatInstant(nowMs)}::timestamptz from unnest(${tokenIds}::uuid[]) as row(t)
    on conflict do nothing returning token_id`)
  return added.length
}

export const removeMonitored = (tx: Db, entityId: string, tokenIds: readonly string[]) =>
  tx.run(
    sql`delete from monitored_tokens where entity_id = ${entityId} and token_id = any(${tokenIds}::uuid[])`,
  )

export const keepOnlyMonitored = (tx: Db, entityId: string, tokenIds: readonly string[]) =>
  tx.run(
    sql`delete from monitored_tokens where entity_id = ${entityId} and not token_id = any(${tokenIds}::uuid[])`,
  )

export const listMonitored = (db: Db, entityId: string, filters: TokenFilters, page: PageQuery) =>
  listTokens(
    db,
    sql`exists (select 1 from monitored_tokens m where m.entity_id = ${entityId} and m.token_id = t.id)`,
    filters,
    page,
  )
