import Type, { type Static } from 'typebox'
import { formatAmount } from '#lib/amounts'
import type { LocalChain } from '../chains/index.ts'

/** Decimals of an amount in gwei: the base fee counts in wei. */
export const gweiDecimals = 9

export const chainStateSchema = Type.Object(
  {
    blockchain: Type.String({ description: 'The blockchain.' }),
    chainId: Type.Integer({ description: 'The chain id.' }),
    rpcUrl: Type.String({ description: 'The address of the node.' }),
    headNumber: Type.Integer({ description: 'The number of the newest block.' }),
    headHash: Type.String({ description: 'The hash of the newest block.' }),
    mining: Type.Enum(['each_transaction', 'interval', 'paused'], {
      description:
        'What makes a block: a transaction, the time that has passed, or only the operation that mines.',
    }),
    isPaused: Type.Boolean({ description: 'Whether transactions stay unmined.' }),
    intervalS: Type.Optional(
      Type.Number({ description: 'The seconds between two blocks, where time makes them.' }),
    ),
    unmined: Type.Integer({
      description: 'The number of transactions that the node has and no block includes.',
    }),
    baseFeeGwei: Type.String({ description: 'The base fee of the next block, in gwei.' }),
  },
  { title: 'SandboxChainState', description: 'A local chain as it is now.' },
)

type LocalChainState = Static<typeof chainStateSchema>
type MiningState = Pick<LocalChainState, 'mining' | 'isPaused' | 'intervalS'>
export type LocalHead = { number: number; hash: string }
type DatedHead = LocalHead & { timestampS: number }

type ReadBlock = {
  number: string
  hash: string
  timestamp: string
  baseFeePerGas: string
  transactions: string[]
}

export async function showChain(chain: LocalChain): Promise<LocalChainState> {
  const { blockchain, chainId, rpcUrl } = chain
  const [head, mining, pool, fees] = await Promise.all([
    localHead(chain),
    miningOf(chain),
    chain.ask<{ pending: string; queued: string }>('txpool_status'),
    chain.ask<{ baseFeePerGas: string[] }>('eth_feeHistory', ['0x1', 'latest', []]),
  ])
  return {
    blockchain,
    chainId,
    rpcUrl,
    headNumber: head.number,
    headHash: head.hash,
    ...mining,
    unmined: Number(pool.pending) + Number(pool.queued),
    baseFeeGwei: formatAmount(BigInt(fees.baseFeePerGas.at(-1)!), gweiDecimals),
  }
}

/** Returns a block by its number, or the newest; a node whose state was reverted past a reorg has no newest block. */
export async function blockOf(chain: LocalChain, at: 'latest' | number): Promise<ReadBlock> {
  const tag = at === 'latest' ? at : `0x${at.toString(16)}`
  const block = await chain.ask<ReadBlock | null>('eth_getBlockByNumber', [tag, false])
  if (block) return block
  throw new Error(`it has no block ${at}`)
}

export async function localHead(chain: LocalChain): Promise<DatedHead> {
  const { number, hash, timestamp } = await blockOf(chain, 'latest')
  return { number: Number(number), hash, timestampS: Number(timestamp) }
}

export async function miningOf(chain: LocalChain): Promise<MiningState> {
  const { blockTimeMs } = chain
  if (chain.isTimed() && blockTimeMs !== undefined)
    return { mining: 'interval', isPaused: false, intervalS: blockTimeMs / 1000 }
  const [minesEach, intervalS] = await Promise.all([
    chain.ask<boolean>('anvil_getAutomine'),
    chain.ask<number | null>('anvil_getIntervalMining'),
  ])
  if (minesEach) return { mining: 'each_transaction', isPaused: false }
  if (intervalS) return { mining: 'interval', isPaused: false, intervalS }
  return { mining: 'paused', isPaused: true }
}
