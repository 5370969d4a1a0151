/**
 * Wire format of a journal's segments. One frame per fsync, appended in sequence:
 *
 *   "BZJ1" | payload bytes u32 | first record u64 | records u32 | hash of the frame before, 32 | hash, 32 | payload
 *
 * Numbers are big-endian. `hash` is the SHA-256 of everything else in the frame, so each frame verifies itself and all before
 * it. The payload is a JSON list of records. A frame is started only after the one before it is on disk: an invalid frame is
 * a torn tail if it is the last, and damage if a valid one follows.
 */
import { createHash } from 'node:crypto'

/** The end of a journal: its number of records, and the hash of its last frame. */
export type Head = { sequence: number; hash: Buffer }

export type Frame = { first: number; count: number; hash: Buffer; payload: Buffer; end: number }

const magic = Buffer.from('BZJ1')
const headerBytes = 84
const hashAt = 52
/** Far above the size of one group of appends. */
const payloadBytesMax = 256 * 2 ** 20

/** The head that the first frame follows. It depends on the id, so a copy of a journal under another name is invalid. */
export const firstHeadOf = (id: string): Head => ({
  sequence: 0,
  hash: createHash('sha256').update(`bezant journal ${id}`).digest(),
})

export function encodeFrame(after: Head, count: number, payload: Buffer): { frame: Buffer; head: Head } {
  const frame = Buffer.alloc(headerBytes + payload.length)
  magic.copy(frame)
  frame.writeUInt32BE(payload.length, 4)
  frame.writeBigUInt64BE(BigInt(after.sequence), 8)
  frame.writeUInt32BE(count, 16)
  after.hash.copy(frame, 20)
  payload.copy(frame, headerBytes)
  const hash = hashOf(frame, payload)
  hash.copy(frame, hashAt)
  return { frame, head: { sequence: after.sequence + count, hash } }
}

const hashOf = (frame: Buffer, payload: Buffer) =>
  createHash('sha256').update(frame.subarray(0, hashAt)).update(payload).digest()

/** The frame at `start`, if it is complete and its hash is correct; the hash of the frame before is not checked. */
function frameAt(bytes: Buffer, start: number): (Frame & { previous: Buffer }) | undefined {
  if (start + headerBytes > bytes.length || !bytes.subarray(start, start + 4).equals(magic)) return undefined
  const length = bytes.readUInt32BE(start + 4)
  const end = start + headerBytes + length
  if (length > payloadBytesMax || end > bytes.length) return undefined
  const frame = bytes.subarray(start, end)
  const payload = frame.subarray(headerBytes)
  const hash = frame.subarray(hashAt, headerBytes)
  if (!hashOf(frame, payload).equals(hash)) return undefined
  const first = Number(frame.readBigUInt64BE(8))
  return { first, count: frame.readUInt32BE(16), previous: frame.subarray(20, hashAt), hash, payload, end }
}

/** `rest`: the bytes after the last valid frame: none, a torn tail, or damage. */
type Segment = { frames: Frame[]; endBytes: number; rest: 'none' | 'torn' | 'damaged' }

/** Reads a segment whose first frame must follow `after`; without `after`, the first frame may follow any. */
export function readSegment(bytes: Buffer, after?: Head): Segment {
  const frames: Frame[] = []
  let endBytes = 0
  let last = after
  while (endBytes < bytes.length) {
    const frame = frameAt(bytes, endBytes)
    if (!frame) return { frames, endBytes, rest: hasValidFrameAfter(bytes, endBytes) ? 'damaged' : 'torn' }
    if (last && !(frame.first === last.sequence && frame.previous.equals(last.hash)))
      return { frames, endBytes, rest: 'damaged' }
    frames.push(frame)
    last = { sequence: frame.first + frame.count, hash: frame.hash }
    endBytes = frame.end
  }
  return { frames, endBytes, rest: 'none' }
}

function hasValidFrameAfter(bytes: Buffer, start: number): boolean {
  for (let at = bytes.indexOf(magic, start + 1); at !== -1; at = bytes.indexOf(magic, at + 1))
    if (frameAt(bytes, at)) return true
  return false
}
