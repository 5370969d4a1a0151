/** A value that differs between two documents, by its path. */
export type Change = { path: string; before: string; after: string }

/** Lists the differences of two documents of JSON. Texts that hold JSON are parsed first. */
export function changesBetween(before: unknown, after: unknown, path = ''): Change[] {
  const [left, right] = [opened(before), opened(after)]
  if (isObject(left) && isObject(right)) {
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    return names.flatMap((name) => changesBetween(left[name], right[name], path ? `${path}.${name}` : name))
  }
  return JSON.stringify(left) === JSON.stringify(right)
    ? []
    : [{ path, before: shown(left), after: shown(right) }]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
const shown = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

function opened(value: unknown): unknown {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
