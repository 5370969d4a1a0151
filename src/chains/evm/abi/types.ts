/** A type as contracts name it; `components` are those of a tuple, also of an array of tuples. */
export type AbiType = { type: string; components?: AbiType[] }

const atomicPattern = /^(address|bool|string|bytes([1-9]|[12]\d|3[0-2])?|u?int([1-9]\d{0,2}))$/

/** Whether the type is one without parts. `uint` and `int` are not: the canonical form names their size. */
export function isAtomic(type: string): boolean {
  const match = atomicPattern.exec(type)
  if (!match) return false
  const bits = match[3] === undefined ? 8 : Number(match[3])
  return bits % 8 === 0 && bits <= 256
}

/** The type of an array's items and its fixed length; `undefined` for what is no array. */
export function arrayOf(type: string): { item: string; length: number | undefined } | undefined {
  const match = /^(.+)\[([1-9]\d{0,5})?\]$/s.exec(type)
  if (!match) return undefined
  return { item: match[1]!, length: match[2] === undefined ? undefined : Number(match[2]) }
}
