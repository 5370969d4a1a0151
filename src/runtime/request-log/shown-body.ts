import { createHash } from 'node:crypto'

/** The most of a body that is kept, in bytes. */
export const bodyBytesMax = 16_384

/** A body as the log keeps it: the JSON of its allowed parts. */
type ShownBody = {
  text: string
  /** Size of the whole text. */
  bytes: number
  /** SHA-256 of the whole text in hexadecimal, if `text` is only its beginning. */
  sha256: string | null
}

/** The digest is that of the allowed parts: one of the body itself would let its secrets be guessed. */
export function shownBody(kept: unknown): ShownBody | undefined {
  if (kept === undefined) return undefined
  const text = JSON.stringify(kept)
  // Most bodies are short, and no character takes more than three bytes.
  const bytes = Buffer.byteLength(text)
  if (bytes <= bodyBytesMax) return { text, bytes, sha256: null }
  const whole = Buffer.from(text)
  return { text: beginningOf(whole), bytes, sha256: createHash('sha256').update(whole).digest('hex') }
}

/** Cuts before a character that does not fit. */
function beginningOf(whole: Buffer): string {
  let end = bodyBytesMax
  while ((whole[end]! & 0xc0) === 0x80) end--
  return whole.toString('utf8', 0, end)
}
