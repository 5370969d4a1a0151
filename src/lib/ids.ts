import { createHash, randomBytes } from 'node:crypto'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

let lastMs = 0
let sequence = 0

/**
 * A UUID version 7 whose first 48 bits are `atMs`, so ids sort as their rows were created.
 * Within one millisecond a process counts upward (RFC 9562, method 1).
 */
export function newId(atMs: number): string {
  const bytes = randomBytes(16)
  sequence = atMs === lastMs ? (sequence + 1) & 0xfff : bytes.readUInt16BE(6) & 0x7ff
  lastMs = atMs
  bytes.writeUIntBE(atMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | sequence, 6)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return hyphenate(bytes.toString('hex'))
}

/** A UUID version 5 of `name` under `namespace`: the same input gives the same id on every machine. */
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

const hyphenate = (hex: string) =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
