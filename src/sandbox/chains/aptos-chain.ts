import { canonicalAddress } from '#chains/addresses/canonical'
import type { Network } from '#chains/networks/index'
import { ApiError, invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import type { Log } from '#runtime/log/log'
import { readLongAddress } from './aptos/addresses.ts'
import { NodeError } from './aptos/errors.ts'
import { type AptosNode, openAptosNode } from './aptos/index.ts'
import { latestBlock } from './aptos/ledger.ts'
import type { StoreState } from './aptos/state.ts'
import { pacedControls } from './ledger-controls.ts'
import { openLedgerJournal } from './ledger-journal.ts'
import type { ChainControls, LocalChain, StartedChain, TouchingTransaction } from './local-chain.ts'

type AptosChainOptions = {
  network: Network
  blockTimeMs: number | undefined
  directory: string | undefined
  log: Log
}

/** Starts a local chain of Aptos, whose node is simulated in this process. */
export async function startAptosChain(options: AptosChainOptions): Promise<StartedChain> {
  const { network, blockTimeMs, directory, log } = options
  const { blockchain, chainId } = network
  const node = await openAptosNode({
    chainId,
    directory,
    clock: Date.now,
    blocks: blockTimeMs === undefined ? 'each_transaction' : { everyMs: blockTimeMs },
    log: log.child({ blockchain }),
  })
  const tokens = network.tokens.map((token) => [token.symbol, token.address])
  const chain: LocalChain = {
    ...controlsOf(node),
    blockchain,
    chainId,
    rpcUrl: node.url,
    nodeUrl: node.url,
    pid: process.pid,
    isSimulated: true,
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

function controlsOf(node: AptosNode): ChainControls {
  return {
    ...pacedControls(node, () => Number(latestBlock(node.ledger()).timestampUs / 1000n)),
    head: async () => {
      const { height, hash, timestampUs } = latestBlock(node.ledger())
      return { number: height, hash, timestampS: Number(timestampUs / 1_000_000n) }
    },
    hashAt: async (number) => {
      const block = node.ledger().blocks[number]
      if (block) return block.hash
      throw new Error(`it has no block ${number}`)
    },
    waiting: async () => node.pool().length,
    outcomeOf: async (txHash) => {
      const found = node.ledger().byHash.get(canonicalAddress(txHash))
      return found?.kind === 'user'
        ? { blockNumber: found.height, isSuccess: found.outcome.isSuccess }
        : undefined
    },
    drop: async (txHash) => {
      const hash = canonicalAddress(txHash)
      if (node.pool().includes(hash)) {
        node.forgetPool(hash)
        return 'dropped'
      }
      return node.ledger().byHash.get(hash)?.height ?? 'unknown'
    },
    transactionsIn: async (blockHash) => transactionsIn(node, blockHash),
    refillFaucet: async () => undefined,
    mint: async (to, amountAtomic, token) =>
      mint(node, readLongAddress(to)!, amountAtomic, token as Hex | undefined),
  }
}

function transactionsIn(node: AptosNode, blockHash: string): TouchingTransaction[] {
  const { blocks, transactions } = node.ledger()
  const block = blocks.findLast(({ hash }) => hash === blockHash)
  if (!block) return []
  return transactions.slice(block.firstVersion, block.lastVersion + 1).flatMap((entry) => {
    if (entry.kind !== 'user') return []
    const { sender, feePayer } = entry.transaction
    const owners = entry.writes.flatMap(({ table, value }) =>
      table === 'stores' ? [(value as StoreState).owner] : [],
    )
    const addresses = new Set([sender, ...(feePayer ? [feePayer.address] : []), ...owners])
    return [{ txHash: entry.hash, addresses: [...addresses] }]
  })
}

const amountMax = 2n ** 64n - 1n

function mint(node: AptosNode, to: Hex, amountAtomic: bigint, token: Hex | undefined): Hex {
  if (amountAtomic > amountMax)
    throw invalid({
      at: 'amount',
      reason: `must be at most ${amountMax} base units on this chain, whose amounts have 64 bits`,
      value: String(amountAtomic),
    })
  try {
    return node.fund(to, amountAtomic, token)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    throw new ApiError(
      'unavailable',
      `The node did not take the payment (${error.message}): mine a block or resume the chain, and try again.`,
    )
  }
}
