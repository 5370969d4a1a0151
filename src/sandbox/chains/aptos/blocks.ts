import { type Hex, hexOf } from '#lib/hex'
import { addressBytes, sha3 } from './addresses.ts'
import type { ReadTransaction } from './codec.ts'
import type { ExecutionOutcome } from './execute.ts'
import type { StateWrite } from './state.ts'

/** A transaction with the version that it has in the ledger. */
export type LedgerTransaction = {
  version: number
  hash: Hex
  height: number
  timestampUs: bigint
} & (
  | { kind: 'genesis' | 'metadata' | 'epilogue' }
  | { kind: 'user'; transaction: ReadTransaction; outcome: ExecutionOutcome; writes: StateWrite[] }
)

export type UserTransaction = Extract<LedgerTransaction, { kind: 'user' }>

export type LedgerBlock = {
  height: number
  hash: Hex
  timestampUs: bigint
  firstVersion: number
  lastVersion: number
}

const numbers = (...values: (number | bigint)[]) => Buffer.from(values.join('/'))

/** The hash of a block: no two blocks of any history have the same one. */
export const blockHashOf = (parent: Hex, height: number, timestampUs: bigint, hashes: readonly Hex[]): Hex =>
  hexOf(sha3(addressBytes(parent), numbers(height, timestampUs), ...hashes.map(addressBytes)))

/** The hash of a transaction that the ledger makes itself. */
export const ownHashOf = (kind: string, blockHash: Hex): Hex =>
  hexOf(sha3(Buffer.from(kind), addressBytes(blockHash)))

/** A hash of the roots of trees that this node does not keep. */
export const rootHashOf = (name: string, { hash, version }: LedgerTransaction): Hex =>
  hexOf(sha3(Buffer.from(name), addressBytes(hash), numbers(version)))
