import { columnOf } from './names.ts'

/** A piece of SQL with separate values; pieces nest, so a filter is written once and used anywhere. */
export type Sql = { readonly text: readonly string[]; readonly values: readonly unknown[] }

/** sql`select * from wallets where id = ${id} and ${condition}`: a value becomes a parameter, a piece is spliced in. */
export function sql(parts: TemplateStringsArray, ...inserts: unknown[]): Sql {
  const text: string[] = [parts[0]!]
  const values: unknown[] = []
  inserts.forEach((insert, index) => {
    const following = parts[index + 1]!
    if (isSql(insert)) {
      text[text.length - 1] += insert.text[0]!
      text.push(...insert.text.slice(1))
      values.push(...insert.values)
      text[text.length - 1] += following
    } else {
      values.push(insert)
      text.push(following)
    }
  })
  return { text, values }
}

/** Returns text that is not a value: a column name or direction chosen by our own code, never by a client. */
export const raw = (text: string): Sql => ({ text: [text], values: [] })

/**
 * Writes a word of a closed list into the statement, which is planned for this word then: a plan for any word would read a whole
 * table for a rare one. Never for text that clients choose freely, since each word makes a statement of its own.
 */
export function listedWord(text: string): Sql {
  if (!/^[\w-]+$/.test(text)) throw new Error(`no word of a list: ${text}`)
  return raw(`'${text}'`)
}

export function join(pieces: readonly Sql[], separator: string): Sql {
  if (pieces.length === 0) return raw('')
  return pieces.reduce((left, right) => sql`${left}${raw(separator)}${right}`)
}

/** Requires all pieces to hold; no piece means true. */
export const allOf = (pieces: readonly (Sql | undefined)[]): Sql => {
  const present = pieces.filter((piece): piece is Sql => piece !== undefined)
  return present.length === 0 ? raw('true') : sql`(${join(present, ') and (')})`
}

/**
 * Encodes rows for `jsonb_to_recordset` as a single value, under the names of columns. Amounts are sent as text; what is in a
 * `jsonb` column keeps its names. Without `fields`, all of each row are sent.
 */
export function jsonOf(rows: readonly object[], fields?: readonly string[]): string {
  let nested = false
  const records = (rows as readonly Record<string, unknown>[]).map((row) => {
    const record: Record<string, unknown> = {}
    for (const field of fields ?? Object.keys(row)) {
      const value = row[field]
      record[columnOf(field)] = amountAsText(field, value)
      nested ||= typeof value === 'object' && value !== null
    }
    return record
  })
  // A replacer doubles the time, and no other row holds amounts any deeper.
  return JSON.stringify(records, nested ? amountAsText : undefined)
}

const amountAsText = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

/** Returns the text with `$1`, `$2` … and the values, as the driver expects them. */
export function render(piece: Sql): { text: string; values: unknown[] } {
  const text = piece.text.reduce(
    (built, part, index) => (index === 0 ? part : `${built}$${index}${part}`),
    '',
  )
  return { text, values: [...piece.values] }
}

const isSql = (value: unknown): value is Sql =>
  typeof value === 'object' && value !== null && 'text' in value && 'values' in value
