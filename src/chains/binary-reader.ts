/** Reads binary encodings of fixed order: little-endian numbers, and bytes with their length before them. */

/** Thrown for bytes that end too early or have a value that the encoding lacks. */
export class Unreadable extends Error {}

export type BinaryReader = ReturnType<typeof readerOf>

/** A reader of bytes from their start. Each read throws `Unreadable` beyond the end. */
export function readerOf(bytes: Buffer) {
  let at = 0
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw new Unreadable('ends too early')
    at += length
    return bytes.subarray(at - length, at)
  }
  const natural = (length: number): bigint =>
    take(length).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  return {
    get at() {
      return at
    },
    get left() {
      return bytes.length - at
    },
    take,
    u8: (): number => take(1)[0]!,
    u32: (): number => take(4).readUInt32LE(),
    u64: () => natural(8),
    u128: () => natural(16),
    /** Throws unless everything was read. */
    end: (): void => {
      if (at < bytes.length) throw new Unreadable('has bytes after its end')
    },
  }
}

/** The bytes of base64 in its one canonical spelling; undefined for other text. */
export function bytesOfBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
