import type { Address, TxId } from '../addresses/types.ts'
import type { BlockAt, BlockRef } from './blocks.ts'

/** A signed transaction that may have been sent. */
export type ExpiringTransaction = {
  hash: TxId
  from: Address
  nonce: number
  expiresMs: number
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
}

/** A proof that a transaction is in no block and can be in none: the block that ends its life, and the next nonce after it. */
type DeathProof = { block: BlockAt & { timeMs: number }; expiresMs: number; nextNonce: number }

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
  /** The time of blocks from which a transaction cannot be executed that is signed while this block is the newest. */
  expiryAfter(head: Pick<BlockRef, 'timeMs'>): number
  /** Never throws for an unreachable node: the transaction is `alive`. */
  lifeOf(sent: ExpiringTransaction, own: OwnBlocks): Promise<LifeVerdict>
}
