/** Transactions of Solana in their wire encoding: signatures, then a message, legacy or of version 0. */
import { encodeBase58 } from '../addresses/base-encodings.ts'
import { type BinaryReader, readerOf, Unreadable } from '../binary-reader.ts'

/** Maximum of a transaction in one packet of the network. */
export const transactionBytesMax = 1_232

/** An account of an instruction; undefined where a lookup table of the chain names it. */
type NamedAccount = string | undefined

export type Instruction = { program: NamedAccount; accounts: readonly NamedAccount[]; data: Buffer }

/** Accounts that a transaction takes from a table of the chain, by their places in it. */
type TableLookup = { table: string; writable: readonly number[]; readonly: readonly number[] }

/** An instruction by the places of its accounts: the keys, then what tables add, first the writable ones of all. */
type PlacedInstruction = { program: number; accounts: readonly number[]; data: Buffer }

export type SolanaMessage = {
  version: 'legacy' | 0
  /** The accounts that it names itself, the signers first. */
  keys: readonly string[]
  /** Numbers of signers, of those that it only reads, and of other keys that it only reads. Each group ends with those. */
  counts: { signers: number; readonlySigners: number; readonlyOthers: number }
  /** The accounts whose signatures it needs, the payer of the fee first. */
  signers: readonly string[]
  blockhash: string
  instructions: readonly Instruction[]
  placed: readonly PlacedInstruction[]
  lookups: readonly TableLookup[]
}

/** A length of one to three bytes, seven bits each, in its shortest form. */
function readLength(reader: BinaryReader): number {
  let length = 0
  for (let place = 0; place < 3; place++) {
    const byte = reader.u8()
    length |= (byte & 0x7f) << (7 * place)
    if (byte < 0x80) {
      if (byte === 0 && place > 0) throw new Unreadable('has a length that is not in its shortest form')
      if (length > 0xffff) throw new Unreadable('has a length beyond two bytes')
      return length
    }
  }
  throw new Unreadable('has a length beyond two bytes')
}

/** Reads as many items as the length before them says; each takes a byte or more, so that they end with the packet. */
const readList = <Item>(reader: BinaryReader, read: () => Item): Item[] => {
  const length = readLength(reader)
  if (length > reader.left) throw new Unreadable('ends too early')
  return Array.from({ length }, read)
}

/** Reads the message that signatures cover, to its end. Throws `Unreadable`. */
export function readMessage(bytes: Buffer): SolanaMessage {
  const reader = readerOf(bytes)
  const first = reader.u8()
  const version = first < 0x80 ? 'legacy' : first & 0x7f
  if (version !== 'legacy' && version !== 0)
    throw new Unreadable(`is of version ${version}: only legacy transactions and version 0 are signed here`)
  const signerCount = version === 'legacy' ? first : reader.u8()
  const [readonlySigners, readonlyOthers] = [reader.u8(), reader.u8()]
  const keys = readList(reader, () => encodeBase58(reader.take(32)))
  if (signerCount === 0 || readonlySigners >= signerCount || signerCount + readonlyOthers > keys.length)
    throw new Unreadable('counts other signers and accounts than it names')
  if (new Set(keys).size < keys.length) throw new Unreadable('names an account twice')
  const blockhash = encodeBase58(reader.take(32))
  const placed = readList(reader, () => ({
    program: reader.u8(),
    accounts: readList(reader, () => reader.u8()),
    data: reader.take(readLength(reader)),
  }))
  const lookups = version === 0 ? readLookups(reader) : []
  reader.end()
  const loaded = lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0)
  const named = (index: number): NamedAccount => {
    if (index >= keys.length + loaded) throw new Unreadable('uses an account that it does not name')
    return keys[index]
  }
  return {
    version,
    keys,
    counts: { signers: signerCount, readonlySigners, readonlyOthers },
    signers: keys.slice(0, signerCount),
    blockhash,
    placed,
    lookups,
    instructions: placed.map(({ program, accounts, data }) => {
      // The payer runs no program, and programs are named by the message itself.
      if (program === 0 || program >= keys.length)
        throw new Unreadable('runs a program that it does not name')
      return { program: named(program), accounts: accounts.map(named), data }
    }),
  }
}

const readLookups = (reader: BinaryReader): TableLookup[] =>
  readList(reader, () => {
    const table = encodeBase58(reader.take(32))
    const [writable, readonly] = [reader.take(readLength(reader)), reader.take(readLength(reader))]
    if (writable.length + readonly.length === 0) throw new Unreadable('has a lookup table of no account')
    return { table, writable: [...writable], readonly: [...readonly] }
  })

export type SolanaTransaction = { signatures: Buffer[]; message: SolanaMessage; messageBytes: Buffer }

/** Reads a transaction, of which signatures may be missing: then they are zeros. Throws `Unreadable`. */
export function readWireTransaction(bytes: Buffer): SolanaTransaction {
  const reader = readerOf(bytes)
  const signatures = readList(reader, () => reader.take(64))
  const messageBytes = reader.take(reader.left)
  const message = readMessage(messageBytes)
  if (signatures.length !== message.signers.length)
    throw new Unreadable(`has ${signatures.length} signatures in place of ${message.signers.length}`)
  return { signatures, message, messageBytes }
}

/** Writes a transaction of fewer than 128 signatures, as every one is that fits a packet. */
export const wireTransaction = (signatures: readonly Buffer[], messageBytes: Buffer): Buffer =>
  Buffer.concat([Buffer.of(signatures.length), ...signatures, messageBytes])
