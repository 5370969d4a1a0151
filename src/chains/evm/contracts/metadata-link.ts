import { base58 } from '@scure/base'
import type { Hex } from '#lib/hex'

/**
 * The end of code that a compiler of Solidity wrote: a CBOR map whose first entry is `ipfs` with a multihash of 34 bytes, and the
 * length of the map in two bytes. https://docs.soliditylang.org/en/latest/metadata.html
 */
const metadata = /64697066735822(1220[0-9a-f]{64})(?:[0-9a-f]{2}){0,64}([0-9a-f]{4})$/

/** The address of the compiler's metadata of a contract, `ipfs://Qm…`; `undefined` where its code names none. */
export function metadataLinkOf(code: Hex): string | undefined {
  const found = metadata.exec(code.toLowerCase())
  if (!found) return undefined
  const [all, multihash, length] = found
  // The map begins one byte before `ipfs`, with the number of its entries.
  const mapBytes = (all.length - 4) / 2 + 1
  if (Number.parseInt(length!, 16) !== mapBytes) return undefined
  return `ipfs://${base58.encode(Buffer.from(multihash!, 'hex'))}`
}
