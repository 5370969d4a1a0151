import { type Db, raw, type Sql, sql } from '#runtime/db/db'
import { type Turn, takeInTurns } from './store.ts'

/** A claim of rows that wait: which ones, how a statement changes those of one entity, and the work that goes with it. */
export type QueueClaim<Row> = {
  /** The table with its alias. Others are joined `using (entity_id, …)`. */
  from: Sql
  alias: string
  /**
   * The whole condition under which a row can be claimed now. Subqueries that are no joins name the entity as they are given it: as a
   * column in the search for entities, and as a value in a claim.
   */
  where(entityId: Sql): Sql
  /** Without it, rows come as the server finds them. */
  order?: Sql
  columns: Sql
  strength?: 'update' | 'no key update'
  /** The statement that changes the locked rows of the entity, which are named `taken`; without it, they are only locked. */
  change?(entityId: string): Sql
  /** Further work on the rows of an entity, in one `tx` with their claim. */
  proceed?(tx: Db, taken: readonly Row[]): Promise<unknown>
}

/** Claims at most `limit` rows of a queue, entity by entity. Skips rows that others have locked. */
export const claimInTurns = <Row>(
  db: Db,
  turn: Turn,
  claim: QueueClaim<Row>,
  limit: number,
): Promise<Row[]> =>
  takeInTurns<Row>(
    db,
    turn,
    {
      from: claim.from,
      where: claim.where(raw(`${claim.alias}.entity_id`)),
      async take(entityId, count) {
        const statement = statementOf(claim, entityId, count)
        const { proceed } = claim
        if (!proceed) return db.all<Row>(statement)
        return db.tx(async (tx) => {
          const taken = await tx.all<Row>(statement)
          if (taken.length > 0) await proceed(tx, taken)
          return taken
        })
      },
    },
    limit,
  )

function statementOf<Row>(
  { from, alias, where, order, columns, strength = 'update', change }: QueueClaim<Row>,
  entityId: string,
  count: number,
): Sql {
  const locked = sql`select ${columns} from ${from} where ${raw(alias)}.entity_id = ${entityId} and ${where(sql`${entityId}`)}
    ${order ? sql`order by ${order}` : sql``} limit ${count} for ${raw(strength)} of ${raw(alias)} skip locked`
  return change ? sql`with taken as materialized (${locked}) ${change(entityId)}` : locked
}
