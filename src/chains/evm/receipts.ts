import type { Hex } from '#lib/hex'
import type { Receipt } from '../chain.ts'
import { hash, integer, quantity } from './quantities.ts'
import { type Rpc, RpcError, RpcUnreachable } from './rpc.ts'

type RawReceipt = {
  transactionHash: unknown
  blockHash: unknown
  blockNumber: unknown
  status: unknown
  gasUsed: unknown
  effectiveGasPrice: unknown
  /** What a rollup charges for posting the transaction to its parent chain. */
  l1Fee?: unknown
}

/** From this many on, one answer with the whole block's receipts is cheaper than one call each. */
const wholeBlockFrom = 20

/** Receipts of `txHashes`, each of which must be in the block; anything else is not to be trusted. */
export async function readReceipts(rpc: Rpc, blockHash: Hex, txHashes: readonly Hex[]): Promise<Receipt[]> {
  if (txHashes.length === 0) return []
  const raws = txHashes.length >= wholeBlockFrom ? await ofBlock(rpc, blockHash) : await ofEach(rpc, txHashes)
  const wanted = new Set(txHashes)
  const receipts = raws.map(receiptOf).filter((receipt) => wanted.has(receipt.txHash))
  const given = new Set(receipts.map((receipt) => receipt.txHash))
  if (
    given.size !== wanted.size ||
    receipts.length !== given.size ||
    receipts.some((receipt) => receipt.blockHash !== blockHash)
  ) {
    throw new RpcUnreachable(`the receipts of block ${blockHash} are incomplete or of another block`)
  }
  return receipts
}

const ofBlock = (rpc: Rpc, blockHash: Hex) =>
  rpc
    .call<RawReceipt[] | null>('eth_getBlockReceipts', [blockHash])
    .then((raws) => (Array.isArray(raws) ? raws : []))

async function ofEach(rpc: Rpc, txHashes: readonly Hex[]): Promise<RawReceipt[]> {
  const calls = txHashes.map((txHash) => ({ method: 'eth_getTransactionReceipt', params: [txHash] }))
  const answers = await rpc.batch<RawReceipt | null>(calls)
  return answers.filter((answer): answer is RawReceipt => answer !== null && !(answer instanceof RpcError))
}

function receiptOf(raw: RawReceipt): Receipt {
  const gasUsed = quantity(raw?.gasUsed, 'gas used')
  const status = quantity(raw.status, 'receipt status')
  if (status > 1n) throw new RpcUnreachable("the node's receipt status is neither 0 nor 1")
  const l1Fee = raw.l1Fee == null ? 0n : quantity(raw.l1Fee, 'parent chain fee')
  return {
    txHash: hash(raw.transactionHash, 'receipt transaction'),
    blockHash: hash(raw.blockHash, 'receipt block'),
    blockNumber: integer(raw.blockNumber, 'receipt block number'),
    success: status === 1n,
    gasUsed,
    feeAtomic: gasUsed * quantity(raw.effectiveGasPrice, 'gas price') + l1Fee,
  }
}
