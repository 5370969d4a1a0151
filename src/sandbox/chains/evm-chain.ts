import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalAddress } from '#chains/addresses/canonical'
import { stablecoinsOf } from '#chains/network'
import { faucetAccount } from '../constants.ts'
import type { SupervisedChain } from './chain.ts'
import type {
  BlockPace,
  ChainControls,
  LocalChain,
  StartedChain,
  TouchingTransaction,
} from './local-chain.ts'

type Started = {
  supervised: SupervisedChain
  blockTimeMs: number | undefined
  directory: string | undefined
}

/** Offers a supervised EVM node as a local chain. */
export function evmChain({ supervised, blockTimeMs, directory }: Started): StartedChain {
  const { network, ask, loadedTo, withoutMining, intercept, copyTo, halt, persist, stop } = supervised
  const { blockchain, chainId } = network
  const controls = controlsOf(supervised, blockTimeMs)
  const tokens = stablecoinsOf(network).map((token) => [token.symbol, token.address])
  const chain: LocalChain = {
    ...controls,
    blockchain,
    chainId,
    rpcUrl: supervised.rpcUrl,
    get nodeUrl() {
      return supervised.nodeUrl()
    },
    get pid() {
      return supervised.pid()
    },
    isSimulated: false,
    tokens: Object.fromEntries(tokens) as LocalChain['tokens'],
    intercept,
    blockTimeMs,
    directory,
    evm: { ...controls, blockchain, ask, loadedTo, withoutMining },
    copyTo,
    copyGenesisTo: async (to) => {
      await mkdir(to, { recursive: true, mode: 0o700 })
      await copyFile(join(directory!, 'genesis.json'), join(to, 'genesis.json'))
    },
    halt,
  }
  return { chain, persist, stop }
}

type EvmAsk = SupervisedChain['ask']
type ReadBlock = { number: string; hash: string; timestamp: string }
type MinedReceipt = { blockNumber: string; status: string }

const controlsOf = ({ ask, isTimed }: SupervisedChain, blockTimeMs: number | undefined): ChainControls => ({
  ...clockOf(ask),
  ...poolOf(ask),
  head: () => headOf(ask),
  hashAt: async (number) => (await blockAt(ask, hexQuantity(number))).hash,
  pace: async () => {
    if (isTimed() && blockTimeMs !== undefined) return blockTimeMs / 1000
    const [minesEach, intervalS] = await Promise.all([
      ask<boolean>('anvil_getAutomine'),
      ask<number | null>('anvil_getIntervalMining'),
    ])
    return minesEach ? 'each_transaction' : intervalS || 'paused'
  },
  setPace: (pace) => setPace(ask, pace),
  mine: async (blocks, intervalS) => {
    const times = intervalS === undefined ? [] : [hexQuantity(intervalS)]
    await ask('anvil_mine', [hexQuantity(blocks), ...times])
  },
  outcomeOf: async (txHash) => {
    const receipt = await ask<MinedReceipt | null>('eth_getTransactionReceipt', [txHash])
    return receipt
      ? { blockNumber: Number(receipt.blockNumber), isSuccess: Number(receipt.status) === 1 }
      : undefined
  },
  transactionsIn: (hash) => transactionsIn(ask, hash),
  refillFaucet: (amountAtomic) => refillFaucet(ask, amountAtomic),
})

/** An interval of 0 ends every mode of mining; automine ends the interval by itself, and mines what waits. */
async function setPace(ask: EvmAsk, pace: BlockPace): Promise<void> {
  if (pace === 'each_transaction') await ask('evm_setAutomine', [true])
  // The timer of the node counts whole seconds.
  else await ask('evm_setIntervalMining', [pace === 'paused' ? 0 : Math.max(1, Math.round(pace))])
}

/** A node would set its time back without a complaint: it is at least a second after the newest block. */
const clockOf = (ask: EvmAsk): Pick<ChainControls, 'setTime' | 'freezeTime' | 'releaseTime'> => ({
  setTime: async (nowMs, isFrozen) => {
    const { timestampS } = await headOf(ask)
    const second = Math.max(Math.floor(nowMs / 1000), timestampS + 1)
    await ask(isFrozen ? 'evm_setNextBlockTimestamp' : 'evm_setTime', [second])
  },
  // While time stands still, each block is a second later than the one before.
  freezeTime: async () => void (await ask('anvil_setBlockTimestampInterval', [1])),
  releaseTime: async () => void (await ask('anvil_removeBlockTimestampInterval')),
})

const poolOf = (ask: EvmAsk): Pick<ChainControls, 'waiting' | 'drop'> => ({
  waiting: async () => {
    const { pending, queued } = await ask<{ pending: string; queued: string }>('txpool_status')
    return Number(pending) + Number(queued)
  },
  drop: async (txHash) => {
    const found = await ask<{ blockNumber: string | null } | null>('eth_getTransactionByHash', [txHash])
    if (!found) return 'unknown'
    if (found.blockNumber !== null) return Number(found.blockNumber)
    return (await ask('anvil_dropTransaction', [txHash])) === null ? 'unknown' : 'dropped'
  },
})

/** Returns a block; a node whose state was reverted past a reorg has no newest block. */
async function blockAt(ask: EvmAsk, tag: string): Promise<ReadBlock> {
  const block = await ask<ReadBlock | null>('eth_getBlockByNumber', [tag, false])
  if (block) return block
  throw new Error(`it has no block ${tag === 'latest' ? tag : Number(tag)}`)
}

async function headOf(ask: EvmAsk) {
  const { number, hash, timestamp } = await blockAt(ask, 'latest')
  return { number: Number(number), hash, timestampS: Number(timestamp) }
}

/** Native coins are given to the account of the faucet: it cannot mint them, as it does others. */
async function refillFaucet(ask: EvmAsk, amountAtomic: bigint): Promise<void> {
  const owned = BigInt(await ask<string>('eth_getBalance', [faucetAccount.address, 'latest']))
  if (owned >= amountAtomic * 2n) return
  await ask('anvil_setBalance', [faucetAccount.address, hexQuantity(owned + amountAtomic * 10n)])
}

type BlockReceipt = {
  transactionHash: string
  from: string
  to: string | null
  contractAddress: string | null
  logs: readonly { topics: readonly string[] }[]
}

async function transactionsIn(ask: EvmAsk, hash: string): Promise<TouchingTransaction[]> {
  const receipts = (await ask<BlockReceipt[] | null>('eth_getBlockReceipts', [hash])) ?? []
  return receipts.map((receipt) => ({
    txHash: receipt.transactionHash,
    addresses: [...new Set(addressesOf(receipt).map((address) => canonicalAddress(address)))],
  }))
}

/** A topic of a log that has an address has zeros before it. */
const addressTopic = /^0x0{24}([0-9a-f]{40})$/i

const addressesOf = ({ from, to, contractAddress, logs }: BlockReceipt): string[] => [
  from,
  ...[to, contractAddress].filter((address) => address !== null),
  ...logs.flatMap(({ topics }) =>
    topics.flatMap((topic) => {
      const address = addressTopic.exec(topic)?.[1]
      return address === undefined ? [] : [`0x${address}`]
    }),
  ),
]

export const hexQuantity = (value: number | bigint): string => `0x${value.toString(16)}`
