import type { Hex } from '#lib/hex'
import type { TxId } from '../../addresses/types.ts'
import type { BlockAt } from '../../facets/blocks.ts'
import type { BlockEffects } from '../../facets/effects.ts'
import { hash } from '../rpc/quantities.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { WholeBlock } from './blocks.ts'
import { type RawReceipt, readReceipts, receiptsFrom } from './receipts.ts'

type KnownReceipts = {
  keep(whole: WholeBlock): void
  receiptsOf: BlockEffects['receiptsOf']
}

/**
 * Remembers the receipts that were read with a block or for it, as long as the code that applies the block holds it: no receipt is
 * read twice, and there is no further limit on memory.
 */
export function openKnownReceipts(rpc: Rpc): KnownReceipts {
  const ofAll = new WeakMap<BlockAt, ReadonlyMap<TxId, RawReceipt>>()
  const ofSome = new WeakMap<BlockAt, Map<TxId, RawReceipt>>()
  return {
    keep: ({ block, receipts }) => {
      if (receipts) ofAll.set(block, receipts)
    },
    receiptsOf: async (block, txHashes) => {
      const blockHash = block.hash as Hex
      const all = ofAll.get(block)
      if (all) return receiptsFrom(all, blockHash, txHashes)
      const some = ofSome.get(block) ?? new Map<TxId, RawReceipt>()
      ofSome.set(block, some)
      const missing = txHashes.filter((txHash) => !some.has(txHash))
      // In a reorg, a node may answer with the receipt in another block, and later with the one in this block again.
      for (const [txHash, raw] of await readReceipts(rpc, blockHash, missing))
        if (hash(raw.blockHash, 'receipt block') === blockHash) some.set(txHash, raw)
      return receiptsFrom(some, blockHash, txHashes)
    },
  }
}
