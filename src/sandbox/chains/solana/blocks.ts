import { createHash } from 'node:crypto'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import type { LoadedTransaction } from './received.ts'
import type { VmAccount, VmOutcome } from './vm.ts'

/** The amount that one account of a transaction has of a token. */
export type TokenHolding = {
  place: number
  mint: string
  owner: string
  program: string
  amount: bigint
  decimals: number
}

/** The balances of the accounts of a transaction, by their places. */
export type AccountBalances = { lamports: readonly bigint[]; tokens: readonly TokenHolding[] }

export type BankedTransaction = {
  transaction: LoadedTransaction
  slot: number
  outcome: VmOutcome
  feeLamports: bigint
  before: AccountBalances
  after: AccountBalances
}

export type SlotBlock = {
  slot: number
  parentSlot: number
  /** Number of blocks before it, which leaves out the skipped slots. */
  height: number
  hash: string
  parentHash: string
  timeS: number
  transactions: readonly BankedTransaction[]
  /** The accounts that it changed, as they were before it. */
  changed: ReadonlyMap<string, VmAccount | undefined>
}

/** The hash of a block: no two blocks of any history have the same one. */
export function slotHashOf(
  parentHash: string,
  slot: number,
  timeS: number,
  signatures: readonly string[],
): string {
  const hash = createHash('sha256').update([parentHash, slot, timeS, ...signatures].join('/'))
  return encodeBase58(hash.digest())
}

/** The age in blocks up to which transactions may name the hash of a block. */
export const blockhashAgeMax = 150
