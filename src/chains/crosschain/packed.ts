import { bytesOf, type Hex, hexOf, isHex } from '#lib/hex'
import { type MessageFlaw, MessageProblem } from './message-problem.ts'

/** How a value of one kind is written: big-endian, in a fixed number of bytes. */
type PackedField<Value> = {
  sizeBytes: number
  read(bytes: Buffer): Value
  /** Throws MessageProblem for a value that does not fit. */
  write(value: Value, name: string): Buffer
}

type PackedFields = Record<string, PackedField<number> | PackedField<bigint> | PackedField<Hex>>

/** The values of some fields, by name. */
export type PackedValues<Fields extends PackedFields> = {
  [Name in keyof Fields]: Fields[Name] extends PackedField<infer Value> ? Value : never
}

export const uint32: PackedField<number> = {
  sizeBytes: 4,
  read: (bytes) => bytes.readUInt32BE(),
  write: (value, name) => {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
      throw new MessageProblem('not-uint32', `${name} does not fit into 32 bits: ${value}`)
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return bytes
  },
}

export const uint256: PackedField<bigint> = {
  sizeBytes: 32,
  read: (bytes) => BigInt(hexOf(bytes)),
  write: (value, name) => {
    if (value < 0n || value >> 256n !== 0n)
      throw new MessageProblem('not-uint256', `${name} does not fit into 256 bits: ${value}`)
    return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
  },
}

export const bytes32: PackedField<Hex> = {
  sizeBytes: 32,
  read: hexOf,
  write: (value, name) => {
    if (!isHex(value, 32)) throw new MessageProblem('not-bytes32', `${name} is not 32 bytes: ${value}`)
    return bytesOf(value)
  },
}

/** Where each field lies, in the order in which they are listed, and how long they are together. */
export function placesOf<Fields extends PackedFields>(fields: Fields) {
  let sizeBytes = 0
  const places = {} as Record<keyof Fields, { start: number; end: number }>
  for (const name of Object.keys(fields) as (keyof Fields)[]) {
    const start = sizeBytes
    sizeBytes += fields[name]!.sizeBytes
    places[name] = { start, end: sizeBytes }
  }
  return { places, sizeBytes }
}

/** Reads fields from the beginning of `bytes`. Throws MessageProblem when these are too few. */
export function readPacked<Fields extends PackedFields>(
  fields: Fields,
  bytes: Buffer,
  what: string,
): PackedValues<Fields> {
  const { places, sizeBytes } = placesOf(fields)
  if (bytes.length < sizeBytes)
    throw problem('too-short', `${what} has ${bytes.length} bytes; at least ${sizeBytes} are needed`)
  const values = Object.entries(fields).map(([name, field]) => {
    const { start, end } = places[name]!
    return [name, field.read(bytes.subarray(start, end))]
  })
  return Object.fromEntries(values) as PackedValues<Fields>
}

export function writePacked<Fields extends PackedFields>(
  fields: Fields,
  values: PackedValues<Fields>,
): Buffer {
  const written = Object.entries(fields).map(([name, field]) =>
    (field as PackedField<unknown>).write(values[name], name),
  )
  return Buffer.concat(written)
}

/** The bytes of hexadecimal text of at most `most` bytes. Throws MessageProblem. */
export function packedBytes(text: Hex, what: string, most = Number.POSITIVE_INFINITY): Buffer {
  if (!isHex(text)) throw problem('not-hex', `${what} is not hexadecimal text`)
  const bytes = bytesOf(text)
  if (bytes.length > most) throw problem('too-long', `${what} has ${bytes.length} bytes; at most ${most} fit`)
  return bytes
}

const problem = (flaw: MessageFlaw, text: string) => new MessageProblem(flaw, text)
