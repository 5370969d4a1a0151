import { invalid } from '#lib/errors'
import { isHex } from '#lib/hex'
import { lackOf } from '../chains/abilities.ts'
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
  const dropped = await chain.drop(txHash)
  if (dropped === 'unknown') throw unknown()
  if (dropped === 'dropped') return
  const remedy =
    lackOf(chain.blockchain, 'reorg') === undefined
      ? 'a reorg with transactions "drop" removes it from there'
      : 'it is final there'
  throw invalid({ at: 'txHash', reason: `is in block ${dropped} already: ${remedy}`, value: txHash })
}
