import type { BlockOperations, OwnersAdded } from '#chains/facets/accounts'
import type { Block } from '#chains/facets/blocks'
import type { ManagedAddress } from '#custody/wallets/index'
import type { Posting } from '#engines/ledger/index'
import type { Token } from '#engines/ledger/tokens/index'
import { formatInstant } from '#lib/time'
import { spentOnGas } from './spent-on-gas.ts'
import type { ObservedOperation } from './store/operations.ts'
import type { ObservedOwners } from './store/owners.ts'

/** The managed owners of addresses. */
export type Managed = ReadonlyMap<string, readonly ManagedAddress[]>

/** Native coins that moved at the EntryPoint, or by an operation as its input claims; transfers of tokens have logs. */
export type CoinMovement = {
  txHash: string
  kind: 'value' | 'operation' | 'log'
  position: number
  from: string
  to: string
  amountAtomic: bigint
}

/** The addresses whose balances the EntryPoint changed without a log of a token. */
export const addressesOf = ({ operations, compensations, depositMoves }: BlockOperations): string[] => [
  ...operations.flatMap(({ account, paymaster, transfers }) => [
    ...[account, paymaster],
    ...transfers.map(({ to }) => to),
  ]),
  ...compensations.map(({ beneficiary }) => beneficiary),
  ...depositMoves.flatMap(({ from, to }) => [from, to]),
]

/** More transfers than one operation can carry. */
const transfersMax = 4_096

/** More than any chain has of its coin: sums of less stay within the numbers of the books. */
const claimMaxAtomic = 2n ** 128n

/** Each movement has a position of its own within its transaction, since no log shows it. An account with other code moves none. */
export const coinMovements = ({ operations }: BlockOperations): CoinMovement[] =>
  operations.flatMap(({ txHash, logIndex, account, transfers }) =>
    transfers.slice(0, transfersMax).flatMap(({ to, amountAtomic }, index): CoinMovement[] => {
      const position = logIndex * transfersMax + index
      return amountAtomic < claimMaxAtomic
        ? [{ txHash, from: account, to, amountAtomic, kind: 'operation', position }]
        : []
    }),
  )

export function managedOperations(
  { operations }: BlockOperations,
  managed: Managed,
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

/** The owners that managed accounts got. Logs of other purposes name no account of this kind. */
export const managedOwners = (
  added: readonly OwnersAdded[],
  managed: Managed,
  blockchain: string,
  { hash: blockHash, number: blockNumber }: Block,
): ObservedOwners[] =>
  added.flatMap(({ account, ownerIds, logIndex }) =>
    (managed.get(account) ?? [])
      .filter(({ purpose }) => purpose === 'modular')
      .map(({ entityId }) => ({ entityId, blockchain, blockHash, blockNumber, logIndex, account, ownerIds })),
  )

const isPaymaster = ({ purpose }: ManagedAddress) => purpose === 'paymaster'

/** The coins that entered the deposits of managed paymasters, or left them other than for gas. */
export const movesOfPaymasters = ({ depositMoves }: BlockOperations, managed: Managed): CoinMovement[] =>
  depositMoves.filter(({ from, to }) => [from, to].some((address) => managed.get(address)?.some(isPaymaster)))

/** The managed owners of an address between which native coins moved. Those of paymasters are in their deposits alone. */
export const ownersOfCoins = (managed: Managed, party: string): readonly ManagedAddress[] =>
  (managed.get(party) ?? []).filter((each) => !isPaymaster(each))

/** Books the gas of operations: what their paymasters were charged, and what a managed beneficiary was paid. */
export function gasPostings(
  { operations, compensations }: BlockOperations,
  managed: Managed,
  { hash: blockHash }: Block,
  native: Token,
): Posting[] {
  const { blockchain, id: tokenId } = native
  const postings = (fact: string, address: string, amountAtomic: bigint, owners: readonly ManagedAddress[]) =>
    owners.map(
      ({ entityId, purpose }): Posting => ({
        entityId,
        blockchain,
        blockHash,
        fact,
        entries: [
          { kind: 'address', tokenId, address, amountAtomic },
          { kind: 'outside', tokenId, amountAtomic: -amountAtomic },
          ...spentOnGas(native, { address, purpose }, amountAtomic),
        ],
      }),
    )
  const chargedTo = (address: string) => (managed.get(address) ?? []).filter(isPaymaster)
  return [
    ...operations.flatMap(({ txHash, logIndex, paymaster, feeAtomic }) =>
      postings(`gas:${logIndex}:${txHash}`, paymaster, -feeAtomic, chargedTo(paymaster)),
    ),
    ...compensations.flatMap(({ txHash, beneficiary, amountAtomic }) =>
      postings(`compensation:${txHash}`, beneficiary, amountAtomic, managed.get(beneficiary) ?? []),
    ),
  ]
}
