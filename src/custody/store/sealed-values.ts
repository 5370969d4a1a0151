import { type Db, join, raw, type Sql, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'

/** A column whose values are sealed under the root key, in the words of the database. */
export type SealedColumn = {
  table: string
  column: string
  /** The columns of the primary key, in its order, and their types. A table of tenants begins with `entity_id`. */
  key: readonly (readonly [name: string, type: 'uuid' | 'text' | 'integer'])[]
  /** Expressions that the contexts of its values need besides, under the names of fields; the row is `t`. */
  fields?: Readonly<Record<string, string>>
}

/** The key of a row as texts, under the names of its columns. */
export type SealedPlace = { texts: Record<string, string> }

/** A sealed value with the key of its row, and the texts that its context needs; null where what they come from is missing. */
export type SealedValue = { sealed: Buffer; texts: Record<string, string | null> }

const namesOf = ({ key }: SealedColumn) => key.map(([name]) => name)

const isOutdated = ({ column }: SealedColumn, version: number) =>
  sql`t.${raw(column)} is not null and root_key_version(t.${raw(column)}) <> ${version}`

const textsOf = (expressions: readonly (readonly [name: string, expression: string])[]) =>
  raw(
    `json_build_object(${expressions.map(([name, expression]) => `'${name}', (${expression})::text`).join(', ')}) as texts`,
  )

const keyTexts = (column: SealedColumn) => namesOf(column).map((name) => [name, `t.${name}`] as const)

/** The number of values that are not sealed with this version. */
export async function countOutdated(db: Db, column: SealedColumn, version: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from ${raw(column.table)} t where ${isOutdated(column, version)}`,
  )
  return count
}

/** Finds the next values behind `after` that are not sealed with this version, in the order of their keys. Locks nothing. */
export async function findOutdated(
  db: Db,
  column: SealedColumn,
  { version, after, limit }: { version: number; after: SealedPlace | undefined; limit: number },
): Promise<SealedPlace[]> {
  const keys = raw(
    namesOf(column)
      .map((name) => `t.${name}`)
      .join(', '),
  )
  return db.all<SealedPlace>(sql`select ${textsOf(keyTexts(column))} from ${raw(column.table)} t
    where ${isOutdated(column, version)} and ${isBehind(column, keys, after)} order by ${keys} limit ${limit}`)
}

const isBehind = ({ key }: SealedColumn, keys: Sql, after: SealedPlace | undefined): Sql => {
  if (!after) return raw('true')
  const values = key.map(([name, type]) => sql`${after.texts[name]}::text::${raw(type)}`)
  return sql`(${keys}) > (${join(values, ', ')})`
}

/** Locks those of the values that are still not sealed with this version. Rows that others hold are passed over. */
export const lockOutdated = (
  tx: Db,
  column: SealedColumn,
  version: number,
  places: readonly SealedPlace[],
): Promise<SealedValue[]> => {
  const isOfTenants = namesOf(column)[0] === 'entity_id'
  const asked = places.map((place) => ({ ...place, entityId: place.texts['entity_id'] ?? '' }))
  return perEntity(asked, (entityId, own) =>
    tx.all<SealedValue>(sql`select t.${raw(column.column)} as sealed,
        ${textsOf([...keyTexts(column), ...Object.entries(column.fields ?? {})])}
      from ${raw(column.table)} t join unnest(${listsOf(column, own)}) as asked(${raw(namesOf(column).join(', '))})
        on ${isSameRow(column, 'asked')}
      where ${isOfTenants ? sql`t.entity_id = ${entityId}` : raw('true')} and ${isOutdated(column, version)}
      for no key update of t skip locked`),
  )
}

/** Stores values in the place of those that were locked, and returns them as they are in the table now, with their place in the list. */
export async function replaceSealed(
  tx: Db,
  column: SealedColumn,
  values: readonly SealedValue[],
): Promise<(SealedValue & { position: number })[]> {
  const positions = values.map((_, index) => index)
  const rows = await tx.all<{
    position: number
    sealed: Buffer
  }>(sql`update ${raw(column.table)} t set ${raw(column.column)} = given.sealed
    from unnest(${listsOf(column, values)}, ${values.map(({ sealed }) => sealed)}::bytea[], ${positions}::integer[])
      as given(${raw(namesOf(column).join(', '))}, sealed, position)
    where ${isSameRow(column, 'given')} returning given.position, t.${raw(column.column)} as sealed`)
  return rows.map((row) => ({ ...values[row.position]!, ...row }))
}

/** The columns of the keys as lists of their types. */
const listsOf = ({ key }: SealedColumn, rows: readonly Pick<SealedValue, 'texts'>[]): Sql =>
  join(
    key.map(([name, type]) => sql`${rows.map(({ texts }) => texts[name])}::text[]::${raw(type)}[]`),
    ', ',
  )

const isSameRow = (column: SealedColumn, other: string) =>
  raw(
    namesOf(column)
      .map((name) => `t.${name} = ${other}.${name}`)
      .join(' and '),
  )
