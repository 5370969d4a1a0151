/**
 * A table is declared once, and its declaration gives the type of a row, the columns that statements select, and the list that
 * inserts rows. SQL stays SQL: there is no builder of queries. A new column is a migration and a line of the declaration; a test
 * compares all declarations with the tables of the database.
 */
import { columnOf } from './names.ts'
import { jsonOf, raw, type Sql, sql } from './sql.ts'

/** The type of a column in the database, and that of its values in rows. */
export type Column<Value> = { readonly type: string; readonly isNullable: boolean; readonly value?: Value }

type Columns = Readonly<Record<string, Column<unknown>>>

const column = <Value>(type: string): Column<Value> => ({ type, isNullable: false })

export const uuid = column<string>('uuid')
export const text = column<string>('text')
export const integer = column<number>('integer')
export const bigint = column<number>('bigint')
/** An integer of any size, as of base units. */
export const numeric = column<bigint>('numeric')
export const boolean = column<boolean>('boolean')
export const timestamptz = column<string>('timestamptz')
/** One of a few texts. */
export const textOf = <Value extends string>() => column<Value>('text')
export const textsOf = <Value extends string>() => column<readonly Value[]>('text[]')
export const texts = textsOf<string>()
export const jsonb = <Value>() => column<Value>('jsonb')

export const nullable = <Value>({ type }: Column<Value>): Column<Value | null> => ({ type, isNullable: true })

type DeclaredRow<Declared extends Columns> = {
  [Field in keyof Declared]: Declared[Field] extends Column<infer Value> ? Value : never
}

/** The type of the rows of a table, or of the part of one. */
export type RowOf<Declared> = Declared extends Table<infer Some> ? DeclaredRow<Some> : never

/** A table with all its declared columns, or with some of them. */
export type Table<Declared extends Columns> = {
  readonly name: string
  readonly declared: Declared
  /** The columns as `select` and `returning` list them, each of the table of this alias. */
  columns(alias?: string): Sql
  /** The columns with their types, for `as row(…)`. */
  readonly record: Sql
  /** Rows as a table of the same columns: `from ${payments.recordset(rows)}`. */
  recordset(rows: readonly DeclaredRow<Declared>[], alias?: string): Sql
  /** Inserts rows. `on conflict` and `returning` may follow. */
  insert(rows: readonly DeclaredRow<Declared>[], alias?: string): Sql
  /** The same table without some columns: those that keep their defaults, or that readers do not see. */
  without<Field extends keyof Declared>(...fields: Field[]): Table<Omit<Declared, Field>>
  only<Field extends keyof Declared>(...fields: Field[]): Table<Pick<Declared, Field>>
}

const tables: Table<Columns>[] = []

/** The tables that are declared by what is imported so far. */
export const declaredTables = (): readonly Table<Columns>[] => tables

/** Declares a table, under the names of the program: `txHash` is the column `tx_hash`. */
export function table<Declared extends Columns>(name: string, declared: Declared): Table<Declared> {
  const whole = someOf(name, declared)
  tables.push(whole as unknown as Table<Columns>)
  return whole
}

function someOf<Declared extends Columns>(name: string, declared: Declared): Table<Declared> {
  const fields = Object.keys(declared)
  const names = fields.map(columnOf)
  const list = raw(names.join(', '))
  const record = raw(names.map((column, index) => `${column} ${declared[fields[index]!]!.type}`).join(', '))
  const recordset = (rows: readonly DeclaredRow<Declared>[], alias = 'row') =>
    sql`jsonb_to_recordset(${jsonOf(rows, fields)}::jsonb) as ${raw(alias)}(${record})`
  const some = (isChosen: (field: string) => boolean) =>
    someOf(name, Object.fromEntries(Object.entries(declared).filter(([field]) => isChosen(field)))) as never
  return {
    name,
    declared,
    record,
    recordset,
    columns: (alias) => (alias ? raw(names.map((column) => `${alias}.${column}`).join(', ')) : list),
    insert: (rows, alias) => sql`insert into ${raw(alias ? `${name} as ${alias}` : name)} (${list})
      select * from ${recordset(rows)}`,
    without: (...left) => some((field) => !left.some((each) => each === field)),
    only: (...kept) => some((field) => kept.some((each) => each === field)),
  }
}
