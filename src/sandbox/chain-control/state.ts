import Type, { type Static } from 'typebox'
import { formatAmount } from '#lib/amounts'
import { type RareAct, rareActsOf } from '../chains/abilities.ts'
import type { EvmLocalChain, LocalChain } from '../chains/local-chain.ts'

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
    baseFeeGwei: Type.Optional(
      Type.String({ description: 'The base fee of the next block, in gwei; absent where there is none.' }),
    ),
    isSimulated: Type.Boolean({
      description: 'Whether the sandbox simulates the node, because none of the network can be installed.',
    }),
    operations: Type.Array(Type.String({ description: 'The last word of the path of an operation.' }), {
      description: 'The operations of this chain, below its path.',
    }),
  },
  { title: 'SandboxChainState', description: 'A local chain as it is now.' },
)

type LocalChainState = Static<typeof chainStateSchema>

export async function showChain(chain: LocalChain): Promise<LocalChainState> {
  const { blockchain, chainId, rpcUrl, isSimulated } = chain
  const [head, pace, unmined, baseFeeGwei] = await Promise.all([
    chain.head(),
    chain.pace(),
    chain.waiting(),
    chain.evm && baseFeeOf(chain.evm),
  ])
  return {
    blockchain,
    chainId,
    rpcUrl,
    headNumber: head.number,
    headHash: head.hash,
    mining: typeof pace === 'number' ? 'interval' : pace,
    isPaused: pace === 'paused',
    ...(typeof pace === 'number' && { intervalS: pace }),
    unmined,
    ...(baseFeeGwei !== undefined && { baseFeeGwei }),
    isSimulated,
    operations: [...commonOperations, ...rareActsOf(blockchain).filter(isOperation)],
  }
}

const commonOperations = ['mine', 'pause', 'resume', 'interval', 'drop']

/** Whether an act is an operation of its own: the gas limit is set by faults alone. */
const isOperation = (act: RareAct) => act !== 'gas-limit'

async function baseFeeOf({ ask }: EvmLocalChain): Promise<string> {
  const { baseFeePerGas } = await ask<{ baseFeePerGas: string[] }>('eth_feeHistory', ['0x1', 'latest', []])
  return formatAmount(BigInt(baseFeePerGas.at(-1)!), gweiDecimals)
}
