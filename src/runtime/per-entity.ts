/**
 * Statements that lock or change rows name one entity, whose rows may all be on another server than those of the next entity. Work on
 * rows of several entities is one statement for each of them.
 */
import { groupBy } from '#lib/group-by'

/**
 * Runs `work` with the rows of each entity and returns what it returned. Entities come in the order of their ids, so that two
 * transactions which lock rows of the same entities never wait for each other.
 */
export async function perEntity<Row extends { readonly entityId: string }, Result>(
  rows: readonly Row[],
  work: (entityId: string, own: readonly Row[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  const byEntity = [...groupBy(rows, ({ entityId }) => entityId)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [entityId, own] of byEntity) results.push(...(await work(entityId, own)))
  return results
}
