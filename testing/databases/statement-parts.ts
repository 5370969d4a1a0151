/** Parts of a statement as `libpg-query` returns them: objects whose only or several names say what they are. */
export type Part = Readonly<Record<string, unknown>>

export const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const partOf = (part: Part, name: string): Part | undefined => {
  const found = part[name]
  return isPart(found) ? found : undefined
}

export const partsOf = (part: Part, name: string): readonly Part[] => {
  const found = part[name]
  return Array.isArray(found) ? found.filter(isPart) : []
}

/** The strings of a list, such as the names of a column reference. */
export const stringsOf = (part: Part, name: string): string[] =>
  partsOf(part, name).flatMap((each) => (partOf(each, 'String')?.['sval'] as string | undefined) ?? [])

/** The text under a name, or that of the target of a list of columns. */
export const nameOf = (part: Part, name?: string): string =>
  String(name === undefined ? partOf(part, 'ResTarget')?.['name'] : part[name])

/** The expressions of a row, or the one that is none. */
export const rowOf = (expression: Part): readonly Part[] => {
  const row = partOf(expression, 'RowExpr')
  return row ? partsOf(row, 'args') : [expression]
}

/** Every member of a part of a statement, in whatever depth. */
export function* membersOf(part: unknown): Generator<Part> {
  if (Array.isArray(part)) for (const each of part) yield* membersOf(each)
  if (!isPart(part)) return
  yield part
  for (const each of Object.values(part)) yield* membersOf(each)
}

/** The names that parts of one kind have, in whatever depth of a statement. */
export const namesIn = (statement: Part, kind: string, name: string): string[] =>
  [...membersOf(statement)].flatMap((each) => {
    const found = partOf(each, kind)
    return found ? [nameOf(found, name)] : []
  })
