import { type Db, type Sql, sql } from '#runtime/db/db'
import { inTurns, served, type Turn } from '#runtime/turns/store'

/** A table whose rows change status by themselves: its name with its alias, the alias, its live rows, and the columns of the result. */
type Reviewed = { table: Sql; alias: Sql; live: Sql; columns: Sql }

/** A change of status. `waiting` is the condition of an index on the tenant; `due` selects the rows to claim among those. */
type StatusChange = { status: Sql; waiting: Sql; due: Sql }

/** Sets the new status of due rows, dated `at`: at most `limit`, round-robin over tenants. Returns them. */
export async function changeStatus<Row extends { entityId: string }>(
  tx: Db,
  turn: Turn,
  at: string,
  { table, alias, live, columns }: Reviewed,
  { status, waiting, due }: StatusChange,
  limit: number,
): Promise<readonly Row[]> {
  const where = sql`${live} and ${waiting}`
  const rows = sql`select ${alias}.entity_id, ${alias}.id from ${table} where ${where} and ${due}
    and ${alias}.entity_id = turn.entity_id`
  const decided = await tx.all<Row>(sql`with chosen as materialized (
      ${inTurns(turn, { from: table, where, rows }, limit)}
    ), due as materialized (
      select ${alias}.entity_id, ${alias}.id from chosen
      join ${table} on ${alias}.entity_id = chosen.entity_id and ${alias}.id = chosen.id
      where ${where} and ${due} for update of ${alias} skip locked
    )
    update ${table} set status = ${status}, update_date = ${at}
    where (${alias}.entity_id, ${alias}.id) in (select * from due)
    returning ${columns}`)
  return served(turn, decided)
}
