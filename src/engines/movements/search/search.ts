import type { EngineCtx } from '#engines/ctx'
import type { Movement } from '#engines/movement'
import { isUuid } from '#lib/ids'
import { findMovement, movementTables } from '../list-movements.ts'
import { attemptedAs, type FoundKind, findRows, madeWithKey } from './store.ts'
import { wordOf } from './word.ts'

/** A resource that a word is about. */
export type Found =
  | { kind: FoundKind; id: string; label: string; line: 'v1' | 'v2' | null }
  | { kind: 'movement'; movement: Movement }

/** Finds what one word is about among the rows of an entity: at most `limit`, the best matches first. */
export async function search(
  { db, chains }: Pick<EngineCtx, 'db' | 'chains'>,
  entityId: string,
  text: string,
  limit: number,
): Promise<Found[]> {
  const word = wordOf(text)
  const blockchains = chains.list().map(({ network }) => network.blockchain)
  const named = [
    ...(word.id === undefined ? [] : [word.id, ...(await madeWithKey(db, entityId, word.id, limit))]),
    ...(await attemptedAs(db, entityId, blockchains, word.canonical)),
  ]
  const ids = [...new Set(named)].filter(isUuid)
  const rows = await findRows(db, entityId, word, { ids, movements: movementTables, limit })
  const seen = new Set<string>()
  const found: Found[] = []
  for (const { kind, id, label, line } of rows) {
    if (found.length === limit) break
    if (seen.has(`${kind} ${id}`)) continue
    seen.add(`${kind} ${id}`)
    if (label !== null) found.push({ kind: kind as FoundKind, id, label, line })
    else {
      const movement = await findMovement(db, entityId, id)
      if (movement) found.push({ kind: 'movement', movement })
    }
  }
  return found
}
