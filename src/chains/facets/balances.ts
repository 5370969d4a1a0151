import type { Address } from '../addresses/types.ts'
import type { BlockAt } from './blocks.ts'

/** Balances of any address, by a contract or a ledger of the chain. */
export type Balances = {
  /** The balance of `address` in `token`, or in the native coin when absent; now, or at a block. */
  of(address: Address, token?: Address, atBlock?: BlockAt): Promise<bigint>
  totalSupplyOf(token: Address): Promise<bigint>
}
