import type { BlockOperations } from '#chains/accounts'
import type { Block } from '#chains/chain'
import type { ManagedAddress } from '#custody/index'
import type { Posting } from '#engines/ledger/index'
import { formatInstant } from '#lib/time'
import type { ObservedOperation } from './store/observed-operations.ts'

/** The native coins that an operation moved; transfers of tokens have logs. */
export type CoinMovement = {
  txHash: string
  logIndex: number
  from: string
  to: string
  amountAtomic: bigint
}

/** The addresses whose balances operations change without a log. */
export const addressesOf = ({ operations, compensations }: BlockOperations): string[] => [
  ...operations.flatMap(({ account, transfers }) => [account, ...transfers.map(({ to }) => to)]),
  ...compensations.map(({ beneficiary }) => beneficiary),
]

/** More transfers than one operation can carry. */
const transfersMax = 4_096
/** Above the index -1 of the value that a transaction itself carries. */
const firstIndex = 2

/** Each movement has a negative index of its own within its transaction, since no log shows it. */
export const coinMovements = ({ operations }: BlockOperations): CoinMovement[] =>
  operations.flatMap(({ txHash, logIndex, account, transfers }) =>
    transfers.slice(0, transfersMax).map(({ to, amountAtomic }, position) => ({
      ...{ txHash, from: account, to, amountAtomic },
      logIndex: -(firstIndex + logIndex * transfersMax + position),
    })),
  )

export function managedOperations(
  { operations }: BlockOperations,
  managed: ReadonlyMap<string, readonly ManagedAddress[]>,
  blockchain: string,
  block: Block,
): ObservedOperation[] {
  return operations.flatMap(({ hash, txHash, logIndex, account, nonce, success, feeAtomic, gasUsed }) =>
    (managed.get(account) ?? []).map(({ entityId }) => ({
      entityId,
      blockchain,
      blockHash: block.hash,
      blockNumber: block.number,
      txHash,
      logIndex,
      userOpHash: hash,
      account,
      nonce,
      success,
      gasUsed,
      fee: feeAtomic,
      blockTime: formatInstant(block.timeMs),
    })),
  )
}

/** Books what the EntryPoint paid to a managed beneficiary for the gas of operations. */
export const compensationPostings = (
  { compensations }: BlockOperations,
  managed: ReadonlyMap<string, readonly ManagedAddress[]>,
  { blockchain, blockHash, tokenId }: { blockchain: string; blockHash: string; tokenId: string },
): Posting[] =>
  compensations.flatMap(({ txHash, beneficiary: address, amountAtomic }) =>
    (managed.get(address) ?? []).map(({ entityId }) => ({
      ...{ entityId, blockchain, blockHash, fact: `compensation:${txHash}` },
      entries: [
        { kind: 'address', tokenId, address, amountAtomic },
        { kind: 'outside', tokenId, amountAtomic: -amountAtomic },
      ],
    })),
  )
