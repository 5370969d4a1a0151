import { createHash } from 'node:crypto'
import type { Hex } from '#lib/hex'
import type { Block, ChainTransaction } from '../../facets/blocks.ts'
import { type BlockReceipts, type RawReceipt, zeroAddress } from './receipts.ts'

/**
 * Hashes the contents of a block that the program relies on. Endpoints that name the same block must give the same hash,
 * whatever client they run, so contents that clients show in different ways are left out.
 */
export function contentHashOf(block: Block, receipts: BlockReceipts['byHash']): Hex {
  const { number, parentHash, timeMs, logs } = block
  const shown = sharedTransactions(block)
  const lines = [
    [number, parentHash, timeMs],
    ...shown.map(({ hash, from, to, valueAtomic, nonce, bundle }) => {
      const input = bundle === undefined ? [] : [bundle]
      return [hash, from, to, valueAtomic, nonce, ...outcomeOf(receipts.get(hash)), ...input]
    }),
    ...logs.map(({ txHash, logIndex, address, topics, data }) => [txHash, logIndex, address, topics, data]),
  ]
  const text = lines.map((line) => line.join()).join('\n')
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

/**
 * Some clients list the chain's own actions, sent from the zero address, as transactions, and others do not. Only those
 * that move coins or a listed token must be the same.
 */
function sharedTransactions({ transactions, transfers }: Block): ChainTransaction[] {
  const moving = new Set(transfers.map(({ txHash }) => txHash))
  return transactions.filter(
    ({ hash, from, valueAtomic }) => from !== zeroAddress || valueAtomic > 0n || moving.has(hash),
  )
}

/** Leaves out the logs of transactions that the content hash does not cover: one endpoint alone would vouch for them. */
export function withoutUnsharedLogs(block: Block): Block {
  const shared = sharedTransactions(block)
  if (shared.length === block.transactions.length) return block
  const hashes = new Set(shared.map(({ hash }) => hash))
  return { ...block, logs: block.logs.filter(({ txHash }) => hashes.has(txHash)) }
}

/** Types of signed transactions: their sender pays a gas price that every client shows. */
const paidTypes: readonly unknown[] = [undefined, null, '0x0', '0x1', '0x2', '0x3', '0x4']

function outcomeOf(receipt: RawReceipt | undefined): string[] {
  if (!receipt) return []
  const { status, gasUsed, type, effectiveGasPrice, l1Fee } = receipt
  const paid = paidTypes.includes(type) ? [effectiveGasPrice, l1Fee] : []
  return [status, gasUsed, ...paid].map(amountOf)
}

/** Clients write the same quantity in different ways. */
const amountOf = (value: unknown) =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)
    ? String(BigInt(value))
    : String(value ?? 0)
