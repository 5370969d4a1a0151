import { createHash } from 'node:crypto'
import type { Hex } from '#lib/hex'
import type { Block } from '../chain.ts'
import { type BlockReceipts, type RawReceipt, zeroAddress } from './receipts.ts'

/**
 * Hashes the contents of a block that the program relies on. Endpoints that name the same block must give the same hash,
 * whatever client they run, so contents that clients show in different ways are left out.
 */
export function contentHashOf(block: Block, receipts: BlockReceipts['byHash']): Hex {
  const { number, parentHash, timeMs, transactions, transfers } = block
  const moving = new Set(transfers.map(({ txHash }) => txHash))
  // Some clients list the chain's own actions, sent from the zero address, as transactions, and others do not.
  const shown = transactions.filter(
    ({ hash, from, valueAtomic }) => from !== zeroAddress || valueAtomic > 0n || moving.has(hash),
  )
  const lines = [
    [number, parentHash, timeMs],
    ...shown.map(({ hash, from, to, valueAtomic, nonce }) => {
      return [hash, from, to, valueAtomic, nonce, ...outcomeOf(receipts.get(hash))]
    }),
    ...transfers.map(({ txHash, logIndex, token, from, to, amountAtomic }) => {
      return [txHash, logIndex, token, from, to, amountAtomic]
    }),
  ]
  const text = lines.map((line) => line.join()).join('\n')
  return `0x${createHash('sha256').update(text).digest('hex')}`
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
