/** Seals the values of all columns again with another version of the root key, in small batches, each of which is one `tx`. */
import { type Database, type Db, longLimits } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { RootKeyRetired, type RootKeys, RootKeyUnknown } from '../sealing/root-keys.ts'
import { openUnderRoot, SealBroken, type SealedFor, sealUnderRoot } from '../sealing/sealing.ts'
import {
  countOutdated,
  findOutdated,
  lockOutdated,
  replaceSealed,
  type SealedPlace,
  type SealedValue,
} from '../store/sealed-values.ts'
import { nameOfColumn, type RootKeyColumn } from './columns.ts'

/** Values of a column that were sealed again, and the number that is left. */
export type ResealProgress = { column: string; resealed: number; left: number }

type Resealing = {
  root: RootKeys
  database: Database
  columns: readonly RootKeyColumn[]
  report(progress: ResealProgress): void
}

/** One pass over all columns: the values that it found and sealed again, and the rows whose values do not open. */
type ResealPass = { found: number; resealed: number; broken: string[] }

/** Small, so that a row is locked for a few milliseconds. */
const batchSize = 100

/** Looks once at each value, and seals those again that are not sealed with this version. Rows that others hold are left. */
export async function resealAll(resealing: Resealing, version: number): Promise<ResealPass> {
  const pass: ResealPass = { found: 0, resealed: 0, broken: [] }
  for (const column of resealing.columns) {
    const { found, resealed, broken } = await resealColumn(resealing, column, version)
    pass.found += found
    pass.resealed += resealed
    pass.broken.push(...broken)
  }
  return pass
}

async function resealColumn(
  { root, database, report }: Resealing,
  column: RootKeyColumn,
  version: number,
): Promise<ResealPass> {
  const pass: ResealPass = { found: 0, resealed: 0, broken: [] }
  // Reads the whole table, from the primary.
  const all = await database.tx((tx) => countOutdated(tx, column, version), longLimits)
  let after: SealedPlace | undefined
  while (all > 0) {
    const next = { version, after, limit: batchSize }
    const places = await database.tx((tx) => findOutdated(tx, column, next), longLimits)
    if (places.length === 0) break
    const { resealed, broken } = await database.tx((tx) => resealBatch(tx, root, column, version, places))
    failpoint('after-root-key-batch')
    after = places.at(-1)
    pass.found += places.length
    pass.resealed += resealed
    pass.broken.push(...broken)
    report({ column: nameOfColumn(column), resealed: pass.resealed, left: Math.max(0, all - pass.resealed) })
  }
  return pass
}

type OpenedValue = { value: SealedValue; sealedFor: SealedFor; plain: Buffer }

async function resealBatch(
  tx: Db,
  root: RootKeys,
  column: RootKeyColumn,
  version: number,
  places: readonly SealedPlace[],
): Promise<Omit<ResealPass, 'found'>> {
  const values = await lockOutdated(tx, column, version, places)
  const opened: OpenedValue[] = []
  const broken: string[] = []
  try {
    for (const value of values) {
      const found = openValue(root, column, value)
      if (found) opened.push(found)
      else broken.push(rowOf(column, value))
    }
    if (opened.length > 0) await replaceBatch(tx, root, column, opened)
    return { resealed: opened.length, broken }
  } finally {
    for (const { plain } of opened) plain.fill(0)
  }
}

/** Replaces the values, and opens each again as it is in the table. An error undoes the batch: what it replaced is still there. */
async function replaceBatch(
  tx: Db,
  root: RootKeys,
  column: RootKeyColumn,
  opened: readonly OpenedValue[],
): Promise<void> {
  const resealed = opened.map(({ value, sealedFor, plain }) => ({
    texts: value.texts,
    sealed: sealUnderRoot(root, sealedFor, plain),
  }))
  const stored = await replaceSealed(tx, column, resealed)
  const isSame = ({ sealed, position }: (typeof stored)[number]) => {
    const { sealedFor, plain } = opened[position]!
    const found = openUnderRoot(root, sealedFor, sealed)
    const same = found.equals(plain)
    found.fill(0)
    return same
  }
  if (stored.length !== opened.length || !stored.every(isSame))
    throw new Error(`a value of ${nameOfColumn(column)} that was sealed again does not open as before`)
}

/** Opens a value; returns `undefined` for one that was damaged or moved, or whose context is missing. */
function openValue(root: RootKeys, column: RootKeyColumn, value: SealedValue): OpenedValue | undefined {
  const texts = Object.entries(value.texts)
  if (texts.some(([, text]) => text === null)) return undefined
  const sealedFor = column.contextOf(Object.fromEntries(texts) as Record<string, string>)
  try {
    return { value, sealedFor, plain: openUnderRoot(root, sealedFor, value.sealed) }
  } catch (error) {
    const isBroken =
      error instanceof SealBroken || error instanceof RootKeyUnknown || error instanceof RootKeyRetired
    if (isBroken) return undefined
    throw error
  }
}

const rowOf = (column: RootKeyColumn, { texts }: SealedValue) =>
  `${nameOfColumn(column)} of ${column.key.map(([name]) => `${name} ${texts[name]}`).join(', ')}`
