import { type Db, raw, type Sql, sql } from '#runtime/db/db'
import { claimInTurns } from '#runtime/turns/claim'
import type { Turn } from '#runtime/turns/store'

/** A table whose rows change status by themselves: its name with its alias, the alias, its live rows, and the columns of the result. */
type Reviewed = { table: Sql; alias: string; live: Sql; columns: Sql }

/** A change of status of the rows for which it is `due`, under the condition of an index on the tenant. */
type StatusChange = { status: Sql; due: Sql }

/** Sets the new status of due rows, dated `at`: at most `limit`, round-robin over tenants. Returns them. */
export const changeStatus = <Row>(
  tx: Db,
  turn: Turn,
  at: string,
  { table, alias, live, columns }: Reviewed,
  { status, due }: StatusChange,
  limit: number,
): Promise<Row[]> =>
  claimInTurns<Row>(
    tx,
    turn,
    {
      from: table,
      alias,
      where: () => sql`${live} and ${due}`,
      columns: raw(`${alias}.id`),
      change: (entityId) => sql`update ${table} set status = ${status}, update_date = ${at} from taken
        where ${raw(alias)}.entity_id = ${entityId} and ${raw(alias)}.id = taken.id returning ${columns}`,
    },
    limit,
  )
