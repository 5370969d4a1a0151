import { createHash } from 'node:crypto'
import type { Address } from '../../addresses/types.ts'
import type { Block, ChainTransaction, TransferLog } from '../../facets/blocks.ts'
import type { Receipt } from '../../facets/effects.ts'
import { tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import type { BlockWithOutcomes } from '../../nodes/kept-blocks.ts'
import { listOfFields } from '../../nodes/values.ts'
import { failureInWords } from '../failures.ts'
import { programIds } from '../programs.ts'
import type { SolanaClient } from '../rpc/client.ts'
import { movementsOf, type TransactionBalances, transactionBalancesOf } from './movements.ts'
import { findAtHeight, type SlotRef } from './slots.ts'

/** `accountChanges`: the changes of accounts of tokens, by the address of the account. */
export type SolanaBlock = BlockWithOutcomes & { accountChanges: ReadonlyMap<Address, bigint> }

/** Reads the whole block at a height, without the compute units of its transactions; `undefined` where the node has none. */
export async function readSolanaBlock(
  node: SolanaClient,
  network: Network,
  height: number,
): Promise<SolanaBlock | undefined> {
  const found = await findAtHeight(node, height, 'accounts')
  if (!found) return undefined
  const mints = new Set<Address>(network.tokens.map(tokenAddress))
  const raws = listOfFields(found.fields['transactions'], 'transactions')
  return wholeBlock(
    found.ref,
    raws.filter(isNoVote).map((raw) => transactionBalancesOf(raw, mints)),
  )
}

/** Votes are most of a block, and move nothing. */
function isNoVote(raw: Record<string, unknown>): boolean {
  const { accountKeys } = (raw['transaction'] ?? {}) as { accountKeys?: readonly { pubkey?: unknown }[] }
  return !Array.isArray(accountKeys) || !accountKeys.some((key) => key?.pubkey === programIds.vote)
}

function wholeBlock(ref: SlotRef, banked: readonly TransactionBalances[]): SolanaBlock {
  const { number, hash, parentHash, timeMs } = ref
  const transfers: TransferLog[] = []
  const otherTransfers: Block['otherTransfers'] & {} = []
  const accountChanges = new Map<Address, bigint>()
  for (const {
    signature: txHash,
    success,
    changes,
    otherChanges,
    claimedOwners,
    accountChanges: own,
  } of banked) {
    for (const { mint: token, ...moved } of movementsOf(success, changes))
      transfers.push({ txHash, logIndex: transfers.length, ...moved, ...(token !== undefined && { token }) })
    for (const { mint: token, from, to: toAccount, amountAtomic } of movementsOf(success, otherChanges)) {
      const ownerOf = (account: Address) => claimedOwners.get(account) ?? account
      const moved = { from: ownerOf(from), to: ownerOf(toAccount), toAccount, amountAtomic }
      otherTransfers.push({ txHash, logIndex: otherTransfers.length, token: token!, ...moved })
    }
    for (const [account, byAtomic] of own)
      accountChanges.set(account, (accountChanges.get(account) ?? 0n) + byAtomic)
  }
  const transactions = banked.map(
    ({ signature, payer }): ChainTransaction => ({
      hash: signature,
      from: payer,
      to: undefined,
      valueAtomic: 0n,
    }),
  )
  const receipts = new Map(
    banked.map(({ signature, success, feeAtomic }): [string, Receipt] => [
      signature,
      { txHash: signature, success, gasUsed: 0n, feeAtomic, blockHash: hash, blockNumber: number },
    ]),
  )
  const failures = new Map(
    banked.flatMap(({ signature, success, error }) => (success ? [] : [[signature, failureInWords(error)]])),
  )
  const block = { number, hash, parentHash, timeMs, transactions, logs: [], transfers, otherTransfers }
  const contentHash = solanaContentHash(block, receipts)
  return { block: { ...block, contentHash }, receipts, failures, accountChanges }
}

/**
 * Hashes the contents of a block that the program relies on: endpoints that name the same block must give the same hash. Transfers of
 * unlisted tokens are no such content, since a balance has to prove them.
 */
function solanaContentHash(
  block: Omit<Block, 'contentHash'>,
  receipts: BlockWithOutcomes['receipts'],
): string {
  const lines = [
    [block.number, block.hash, block.parentHash],
    ...block.transactions.map(({ hash, from }) => {
      const { success, feeAtomic } = receipts.get(hash)!
      return [hash, from, success, feeAtomic]
    }),
    ...block.transfers.map(({ txHash, token, from, to, amountAtomic }) => [
      txHash,
      token,
      from,
      to,
      amountAtomic,
    ]),
  ]
  return createHash('sha256')
    .update(lines.map((line) => line.join()).join('\n'))
    .digest('hex')
}
