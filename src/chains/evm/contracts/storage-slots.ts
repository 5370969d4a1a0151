import { type Address, concat, type Hex, isAddress, keccak256, stringToBytes, toHex } from 'viem'

/** Contract storage as in a genesis file: 32-byte slot to 32-byte value, both 0x-prefixed; zero words are omitted. */
export type ContractStorage = Record<Hex, Hex>

/** Place of a state variable in the layout of solc: word, bytes from the low end of the word, width in bytes. */
export type StoragePlace = { slot: bigint; offset: number; sizeBytes: number }

/** The slot of `mapping(… => …)[key]` for a mapping declared at `slot` whose keys are of one word: numbers, addresses, bytes32. */
export function mappingSlot(slot: bigint, key: bigint): bigint {
  return BigInt(keccak256(concat([toHex(key, { size: 32 }), toHex(slot, { size: 32 })])))
}

/** The slot of `mapping(address => …)[key]` for a mapping declared at `slot`. */
export function addressMappingSlot(slot: bigint, key: Address): bigint {
  return mappingSlot(slot, addressWord(key))
}

/** The slot of the first element of a dynamic array declared at `slot`, which holds its length. */
export function arraySlot(slot: bigint): bigint {
  return BigInt(keccak256(toHex(slot, { size: 32 })))
}

/** An address as a number; letter case is not checked. RangeError when it is not 20 bytes of hex. */
export function addressWord(address: Address): bigint {
  if (!isAddress(address, { strict: false })) throw new RangeError(`Not an EVM address: ${address}`)
  return BigInt(address)
}

/** A string of up to 31 bytes as solc stores it in its own slot: the bytes left-aligned, twice the length at the end. */
export function shortStringWord(text: string): bigint {
  const bytes = stringToBytes(text)
  if (bytes.length > 31)
    throw new RangeError(`"${text}" takes ${bytes.length} bytes; at most 31 fit into one slot`)
  const word = new Uint8Array(32)
  word.set(bytes)
  word[31] = bytes.length * 2
  return BigInt(toHex(word))
}

/** Packs values into their words. RangeError for two values in the same bits, or for one too wide for its place. */
export function packStorage(entries: Iterable<readonly [StoragePlace, bigint]>): ContractStorage {
  const words = new Map<bigint, { value: bigint; taken: bigint }>()
  for (const [{ slot, offset, sizeBytes }, value] of entries) {
    const width = BigInt(sizeBytes * 8)
    const shift = BigInt(offset * 8)
    if (value < 0n || value >> width !== 0n) {
      throw new RangeError(`${value} does not fit into ${sizeBytes} bytes at slot ${slot}`)
    }
    const mask = ((1n << width) - 1n) << shift
    const word = words.get(slot) ?? { value: 0n, taken: 0n }
    if ((word.taken & mask) !== 0n) throw new RangeError(`Slot ${toHex(slot)} is written twice`)
    words.set(slot, { value: word.value | (value << shift), taken: word.taken | mask })
  }
  const storage: ContractStorage = {}
  for (const [slot, { value }] of words) {
    if (value !== 0n) storage[toHex(slot, { size: 32 })] = toHex(value, { size: 32 })
  }
  return storage
}
