import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'

/** Balances of any address, by a contract or a ledger of the chain. */
export type Balances = {
  /** The balance of `address` in `token`, or in the native coin when absent; now, or at a block. */
  of(address: Address, token?: Address, atBlock?: Hex): Promise<bigint>
  totalSupplyOf(token: Address): Promise<bigint>
}
