import type { Address } from '../addresses/types.ts'

/** The order in which a chain takes the transactions of one address. */
export type Lane = {
  /**
   * Number of transactions of `address` in blocks up to the head. Absent where blocks take them in any order: a nonce only tells two
   * equal ones apart there, and none waits for another.
   */
  nonceOf?(address: Address): Promise<number>
  /** Number of pending transactions of `address` that pools hold: one when it delegates to code (EIP-7702). */
  inFlightMaxOf(address: Address): Promise<number>
}
