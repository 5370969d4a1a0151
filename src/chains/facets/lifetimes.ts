import type { Address, BlockHash, TxId } from '../addresses/types.ts'
import type { BlockAt, BlockRef } from './blocks.ts'

/**
 * The end of a life: the time of blocks from which none executes the transaction, or the last height at which a block can have it,
 * with the recent block that it names.
 */
export type Expiry =
  | { expiresMs: number; lastHeight?: undefined; recentBlock?: undefined }
  | { lastHeight: number; recentBlock: BlockHash; expiresMs?: undefined }

/** A signed transaction that may have been sent. Its life ends by a time or at a height; the other one is null. */
export type ExpiringTransaction = {
  hash: TxId
  from: Address
  nonce: number
  expiresMs: number | null
  lastHeight: number | null
  /** The height of the newest block that this program had applied when it was signed. */
  signedAt: number
}

/** The blocks that this program itself has read without a gap, up to one that is final. */
export type OwnBlocks = {
  /** The lowest of them. */
  from: number
  last: Pick<BlockRef, 'number' | 'hash' | 'timeMs'>
  /** The transaction of an address with a nonce in them. */
  userOf(address: Address, nonce: number): Promise<TxId | undefined>
  /** Whether one of them has a transaction of ours. */
  has(hash: TxId): Promise<boolean>
}

/**
 * A proof that a transaction is in no block and can be in none: the block that ends its life and, where nonces have an order, the
 * next nonce after it.
 */
type DeathProof = { block: BlockAt & { timeMs: number } } & (
  | { expiresMs: number; nextNonce: number }
  | { lastHeight: number }
)

/**
 * `included`: a block executed it. `displaced`: another transaction used its nonce. `alive`: it may yet be executed, or have been;
 * `because` names what is missing for a proof.
 */
export type LifeVerdict =
  | { kind: 'dead'; proof: DeathProof }
  | { kind: 'included' }
  | { kind: 'displaced'; by: TxId }
  | { kind: 'alive'; because: string }

/**
 * Transactions that expire. A family without this facet has transactions that live until their nonce is used. Whatever a node says of
 * a transaction proves nothing: only blocks that this program has read, and that are final, end a life.
 */
export type Lifetimes = {
  /**
   * The end of the life of a transaction that is signed while `head` is the newest block of the nodes and `applied` that of this
   * program; `undefined` where the program is too far behind for a transaction to live.
   */
  expiryAfter(head: Pick<BlockRef, 'number' | 'timeMs'>, applied: BlockAt): Expiry | undefined
  /** Never throws for an unreachable node: the transaction is `alive`. */
  lifeOf(sent: ExpiringTransaction, own: OwnBlocks): Promise<LifeVerdict>
}

/** A verdict that ends nothing. */
export const alive = (because: string): LifeVerdict => ({ kind: 'alive', because })
