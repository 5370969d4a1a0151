import { invalid } from '#lib/errors'
import { isHex } from '#lib/hex'
import type { LocalChain } from '../chains/index.ts'

/** Removes a transaction from the pool of the node. */
export async function dropTransaction(chain: LocalChain, txHash: string): Promise<void> {
  if (!isHex(txHash, 32))
    throw invalid({
      at: 'txHash',
      reason: 'must be the hash of a transaction: 0x and 64 hexadecimal digits',
      value: txHash,
    })
  const unknown = () =>
    invalid({
      at: 'txHash',
      reason: `matches no transaction of ${chain.blockchain}: a node forgets what it drops`,
      value: txHash,
      kind: 'notFound',
    })
  const found = await chain.ask<{ blockNumber: string | null } | null>('eth_getTransactionByHash', [txHash])
  if (!found) throw unknown()
  if (found.blockNumber !== null)
    throw invalid({
      at: 'txHash',
      reason: `is in block ${Number(found.blockNumber)} already: a reorg with transactions "drop" removes it from there`,
      value: txHash,
    })
  if ((await chain.ask('anvil_dropTransaction', [txHash])) === null) throw unknown()
}
