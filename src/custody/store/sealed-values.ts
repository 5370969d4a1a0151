import { type Db, join, raw, type Sql, sql } from '#runtime/db/db'

/** A column whose values are sealed under the root key, in the words of the database. */
export type SealedColumn = {
  table: string
  column: string
  /** The columns of the primary key, in its order, and their types. */
  key: readonly (readonly [name: string, type: 'uuid' | 'text' | 'integer'])[]
  /** Expressions that the contexts of its values need besides, under the names of fields; the row is `t`. */
  fields?: Readonly<Record<string, string>>
}

/** A sealed value with its key as texts, and the texts that its context needs, under the names of their columns. */
export type SealedValue = { sealed: Buffer; texts: Record<string, string> }

const namesOf = ({ key }: SealedColumn) => key.map(([name]) => name)

const isOutdated = ({ column }: SealedColumn, version: number) =>
  sql`t.${raw(column)} is not null and root_key_version(t.${raw(column)}) <> ${version}`

/** The number of values that are not sealed with this version. */
export async function countOutdated(db: Db, column: SealedColumn, version: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from ${raw(column.table)} t where ${isOutdated(column, version)}`,
  )
  return count
}

/**
 * Locks the next values behind `after` that are not sealed with this version, in the order of their keys. Rows that others hold are
 * passed over: a later round finds them.
 */
export async function lockOutdated(
  tx: Db,
  column: SealedColumn,
  { version, after, limit }: { version: number; after: SealedValue | undefined; limit: number },
): Promise<SealedValue[]> {
  const names = namesOf(column)
  const fields = column.fields ?? {}
  const texts = [
    ...names.map((name) => `'${name}', t.${name}::text`),
    ...Object.entries(fields).map(([name, expression]) => `'${name}', (${expression})::text`),
  ]
  const keys = raw(names.map((name) => `t.${name}`).join(', '))
  return tx.all<SealedValue>(sql`select t.${raw(column.column)} as sealed, json_build_object(${raw(texts.join(', '))}) as texts
    from ${raw(column.table)} t where ${isOutdated(column, version)} and ${isBehind(column, keys, after)}
    order by ${keys} limit ${limit} for no key update of t skip locked`)
}

const isBehind = ({ key }: SealedColumn, keys: Sql, after: SealedValue | undefined): Sql => {
  if (!after) return raw('true')
  const values = key.map(([name, type]) => sql`${after.texts[name]}::text::${raw(type)}`)
  return sql`(${keys}) > (${join(values, ', ')})`
}

/** Stores values in the place of those that were locked, and returns them as they are in the table now, with their place in the list. */
export async function replaceSealed(
  tx: Db,
  column: SealedColumn,
  values: readonly SealedValue[],
): Promise<(SealedValue & { position: number })[]> {
  const names = namesOf(column)
  const lists = column.key.map(
    ([name, type]) => sql`${values.map(({ texts }) => texts[name])}::text[]::${raw(type)}[]`,
  )
  const positions = values.map((_, index) => index)
  const same = raw(names.map((name) => `t.${name} = row.${name}`).join(' and '))
  const rows = await tx.all<{
    position: number
    sealed: Buffer
  }>(sql`update ${raw(column.table)} t set ${raw(column.column)} = row.sealed
    from unnest(${join(lists, ', ')}, ${values.map(({ sealed }) => sealed)}::bytea[], ${positions}::integer[])
      as row(${raw(names.join(', '))}, sealed, position)
    where ${same} returning row.position, t.${raw(column.column)} as sealed`)
  return rows.map((row) => ({ ...values[row.position]!, ...row }))
}
