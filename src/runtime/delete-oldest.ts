import { type Db, type Sql, sql } from '#runtime/db/db'

/** Rows of a table that are of no use any more. */
type OldRows = {
  from: Sql
  /** The columns of the primary key that follow `entity_id`. */
  key: Sql
  isOld: Sql
  /** The column by which they grow old; an index gives its order. */
  date: Sql
}

/** Deletes the oldest of these rows, entity by entity: at most `limit`, and none that another session locks. Returns their number. */
export async function deleteOldest(
  db: Db,
  { from, key, isOld, date }: OldRows,
  limit: number,
): Promise<number> {
  const found = await db.all<{ entityId: string; count: number }>(sql`select entity_id, count(*) as count
    from (select entity_id from ${from} where ${isOld} order by ${date} limit ${limit}) oldest group by entity_id`)
  let deleted = 0
  for (const { entityId, count } of found)
    deleted += await db.run(sql`with old as materialized (
        select ${key} from ${from} where entity_id = ${entityId} and ${isOld} order by ${date} limit ${count}
        for update skip locked
      )
      delete from ${from} where entity_id = ${entityId} and (${key}) in (select * from old)`)
  return deleted
}
