/** A local chain whose ledger this process keeps: the parts that such chains of every family have. */
import type { TxId } from '#chains/addresses/types'
import { stablecoinsOf } from '#chains/network'
import type { Network } from '#chains/networks/index'
import { ApiError, invalid } from '#lib/errors'
import type { Log } from '#runtime/log/log'
import { type BlockMode, openLedgerJournal } from './ledger-journal.ts'
import type { ChainControls, LocalChain, StartedChain } from './local-chain.ts'

export type HostedChainOptions = {
  network: Network
  blockTimeMs: number | undefined
  directory: string | undefined
  log: Log
}

type HostedNode = {
  url: string
  intercept: LocalChain['intercept']
  copyTo(directory: string): void
  halt(): () => Promise<void>
  close(): Promise<void>
}

/** The options of the node of such a chain. */
export const hostedNodeOptions = ({ network, blockTimeMs, directory, log }: HostedChainOptions) => ({
  chainId: network.chainId,
  directory,
  clock: Date.now,
  blocks: (blockTimeMs === undefined ? 'each_transaction' : { everyMs: blockTimeMs }) as BlockMode,
  log: log.child({ blockchain: network.blockchain }),
})

/** Offers a node of this process as a local chain. */
export function hostedChain(
  { network, blockTimeMs, directory }: HostedChainOptions,
  node: HostedNode,
  { controls, isSimulated }: { controls: ChainControls; isSimulated: boolean },
): StartedChain {
  const { blockchain, chainId } = network
  const tokens = stablecoinsOf(network).map((token) => [token.symbol, token.address])
  const chain: LocalChain = {
    ...controls,
    blockchain,
    chainId,
    rpcUrl: node.url,
    nodeUrl: node.url,
    pid: process.pid,
    isSimulated,
    tokens: Object.fromEntries(tokens) as LocalChain['tokens'],
    intercept: node.intercept,
    blockTimeMs,
    directory,
    evm: undefined,
    copyTo: async (to) => {
      if (directory === undefined) throw new Error(`the chain ${blockchain} keeps no files to copy`)
      node.copyTo(to)
    },
    copyGenesisTo: async (to) => openLedgerJournal(to, chainId).close(),
    halt: async () => node.halt(),
  }
  // Its journal has all that it answered.
  return { chain, persist: async () => undefined, stop: node.close }
}

/** The hash of a block of a ledger by its height. */
export function hashOfBlock(blocks: readonly { hash: string }[], number: number): string {
  const block = blocks[number]
  if (block) return block.hash
  throw new Error(`it has no block ${number}`)
}

const amountMax = 2n ** 64n - 1n

/** Pays new coins of a chain whose amounts have 64 bits. `isRefusal`: whether an error is an answer of the node. */
export function payNewCoins(
  amountAtomic: bigint,
  pay: () => TxId,
  isRefusal: (error: unknown) => error is Error,
): TxId {
  if (amountAtomic > amountMax)
    throw invalid({
      at: 'amount',
      reason: `must be at most ${amountMax} base units on this chain, whose amounts have 64 bits`,
      value: String(amountAtomic),
    })
  try {
    return pay()
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw new ApiError(
      'unavailable',
      `The node did not take the payment (${error.message}): mine a block or resume the chain, and try again.`,
    )
  }
}
