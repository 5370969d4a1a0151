import type { Hex } from '#lib/hex'
import type { Address, TxId } from './addresses/types.ts'

/** A log of a block, from any contract. Topics and data are lower-case hex, and mean nothing until a reader decodes them. */
export type ChainLog = { address: Address; topics: Hex[]; data: Hex; logIndex: number; txHash: TxId }
