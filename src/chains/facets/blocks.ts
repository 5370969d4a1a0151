import type { Hex } from '#lib/hex'
import type { Address, BlockHash, TxId } from '../addresses/types.ts'

/** A block by its hash, and the height at which it is: some families find blocks by one of both alone. */
export type BlockAt = { number: number; hash: string }

/** The place of a block in its chain. Hashes are canonical strings; amounts are base units everywhere. */
export type BlockRef = { number: number; hash: BlockHash; parentHash: BlockHash; timeMs: number }

export type ChainTransaction = {
  hash: TxId
  from: Address
  to: Address | undefined
  valueAtomic: bigint
  /** Absent where blocks take the transactions of an account in any order. */
  nonce?: number
  /** The account that paid the fee, where it is not the sender. */
  feePayer?: Address
  /** The input of a call of the contract that executes the operations of smart accounts; absent for all others. */
  bundle?: Hex
}

/** A log of a block, from any contract. Topics and data are lower-case hex, and mean nothing until a reader decodes them. */
export type ChainLog = { address: Address; topics: Hex[]; data: Hex; logIndex: number; txHash: TxId }

/** Asks for the logs of one event of one contract in the blocks `from` to `to`. */
export type LogQuery = { address: Address; topic: Hex; from: number; to: number }

/** A log with its block. */
export type PlacedLog = ChainLog & { blockHash: BlockHash; blockNumber: number; blockTimeMs: number }

/** `last`: the last block of the range. `refused`: nodes refuse a range of this size. */
export type LogHistory =
  | { kind: 'read'; logs: PlacedLog[]; last: BlockRef }
  | { kind: 'refused'; message: string }

/** A transfer of a listed token, or of the native coin where blocks tell of it in the same way, by its position in the block. */
export type TransferLog = {
  txHash: TxId
  logIndex: number
  /** Absent for the native coin. */
  token?: Address
  from: Address
  to: Address
  amountAtomic: bigint
}

/** A whole block whose parts were checked against each other. */
export type Block = BlockRef & {
  transactions: ChainTransaction[]
  /** The logs of all contracts, in block order. */
  logs: ChainLog[]
  /** The transfers of the network's listed tokens among them. */
  transfers: TransferLog[]
  /**
   * Transfers of other tokens, where blocks tell of those and not in logs. Nothing but a balance proves them. `toAccount`: the account
   * that took them, which need not be the one that its owner is paid to.
   */
  otherTransfers?: (TransferLog & { token: Address; toAccount: Address })[]
  /** Hash of the whole content, to compare endpoints; absent for a local chain. */
  contentHash?: string
}

/** The stored hash of the block at a height; `undefined` where none is stored. */
export type HashAt = (number: number) => Promise<string | undefined>

/** `upTo`: the highest block that is agreed on. Without it, `said` lists the answer of each endpoint. */
export type Agreement = { upTo: number | undefined; said?: string[] }

/** `no tag`: nodes of this chain lack the tag, or it is local and can be rewound. `unknown`: too few report a block now. */
export type Finalized = { number: number; hash: BlockHash } | 'no tag' | 'unknown'

/** `outvoted`: enough endpoints agree on other content. `open`: no content is reported by enough of them. */
export type ContentAgreement = { verdict: 'agreed' | 'outvoted' | 'open'; said: string[] }

/** The blocks of a chain, and what its endpoints agree on. */
export type Blocks = {
  head(): Promise<BlockRef>
  /** The hash of the block at a height, read without the contents; `undefined` when the node does not have it. */
  hashAt(number: number): Promise<string | undefined>
  /** The whole block; `undefined` when the node does not have it. */
  byNumber(number: number): Promise<Block | undefined>
  /** The block of this hash; some families find it only with its `number`. */
  byHash(hash: BlockHash, number?: number): Promise<Block | undefined>
  /** Calls `onHead` soon after each new head; spurious calls are possible. Returns a function that stops it. */
  watchHeads(onHead: () => void): () => void
  /** Number of confirmations, the block itself counted, after which a block is final where nodes know no `finalized` block. */
  finalityDepth: number
  /** The highest block that enough endpoints report as finalized. */
  finalized(): Promise<Finalized>
  /** Number of endpoints that must agree before an irreversible conclusion. */
  agreeing: number
  /**
   * Returns the block that enough endpoints agree on: `number`, or the one below it that enough of them have reached.
   * `hashAt` gives the stored hash at a height; a chain with one endpoint agrees with itself.
   */
  agreedUpTo(number: number, hashAt: HashAt): Promise<Agreement>
  /** Whether `agreeing` endpoints report the content of this block that was applied. Outvoted endpoints back off. */
  agreedContent(block: BlockAt, contentHash: string): Promise<ContentAgreement>
}
