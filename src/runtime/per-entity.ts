/**
 * Statements that lock or change rows name one entity, whose rows may all be on another server than those of the next entity. Work on
 * rows of several entities is one statement for each of them.
 */

/**
 * Runs `work` with the rows of each entity and returns what it returned. Entities come in the order of their ids, so that two
 * transactions which lock rows of the same entities never wait for each other.
 */
export async function perEntity<Row extends { readonly entityId: string }, Result>(
  rows: readonly Row[],
  work: (entityId: string, own: readonly Row[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [entityId, own] of byEntity(rows)) results.push(...(await work(entityId, own)))
  return results
}

function byEntity<Row extends { readonly entityId: string }>(rows: readonly Row[]): [string, Row[]][] {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const own = found.get(row.entityId)
    if (own) own.push(row)
    else found.set(row.entityId, [row])
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}
