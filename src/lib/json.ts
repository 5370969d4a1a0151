import { createHash } from 'node:crypto'

/** Returns JSON with the keys of every object sorted, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}

/** Returns the SHA-256 of the canonical JSON of `value`. */
export const fingerprintOf = (value: unknown): Buffer =>
  createHash('sha256').update(canonicalJson(value)).digest()
