import { createHash, randomFillSync } from 'node:crypto'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const idBytes = 16
/** Random bytes for the next ids: a system call for each id would cost more than the rest of its creation. */
const pool = Buffer.alloc(idBytes * 256)
let poolUsed = pool.length

function freshBytes(): Buffer {
  if (poolUsed === pool.length) {
    randomFillSync(pool)
    poolUsed = 0
  }
  poolUsed += idBytes
  return pool.subarray(poolUsed - idBytes, poolUsed)
}

/** The last counter value of each of the latest milliseconds, in the order of their first use. */
const counts = new Map<number, number>()
const millisecondsMax = 1_024
const countMask = 0x3ff_ffff

/**
 * Returns a UUID version 7 whose first 48 bits are `atMs`, so ids sort in the order of creation. Within one millisecond a
 * process counts upward (RFC 9562, method 1, 26 bits), also when work of different milliseconds interleaves.
 */
export function newId(atMs: number): string {
  const bytes = freshBytes()
  const before = counts.get(atMs)
  const count = before === undefined ? bytes.readUInt32BE(6) & (countMask >> 1) : (before + 1) & countMask
  if (before === undefined && counts.size >= millisecondsMax) counts.delete(counts.keys().next().value!)
  counts.set(atMs, count)
  bytes.writeUIntBE(atMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | (count >> 14), 6)
  bytes.writeUInt16BE(0x8000 | (count & 0x3fff), 8)
  return hyphenate(bytes.toString('hex'))
}

/** Returns the lowest UUID that begins with this date: no id that was made at it, or later, is lower. */
export const firstIdAt = (atMs: number): string =>
  hyphenate(
    `${Math.min(Math.max(0, Math.floor(atMs)), 2 ** 48 - 1)
      .toString(16)
      .padStart(12, '0')}${'0'.repeat(20)}`,
  )

/** Returns the UUID version 5 of `name` under `namespace`: the same input gives the same id on every machine. */
export function nameId(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return hyphenate(hash.toString('hex').slice(0, 32))
}

export const isUuid = (text: unknown): text is string => typeof text === 'string' && uuidPattern.test(text)

/** Returns the UUID in its usual form, with hyphens or without them; undefined for any other text. */
export function uuidIn(text: string): string | undefined {
  const id = /^[0-9a-f]{32}$/i.test(text) ? hyphenate(text) : text
  return isUuid(id) ? id.toLowerCase() : undefined
}

const hyphenate = (hex: string) =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
