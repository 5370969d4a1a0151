import { setImmediate as turn } from 'node:timers/promises'
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
import { type BlockMode, openLedgerJournal } from './ledger-journal.ts'
import type {
  BlockPace,
  ChainControls,
  LocalChain,
  StartedChain,
  TouchingTransaction,
} from './local-chain.ts'

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
    ...clockOf(node),
    head: async () => {
      const { height, hash, timestampUs } = latestBlock(node.ledger())
      return { number: height, hash, timestampS: Number(timestampUs / 1_000_000n) }
    },
    hashAt: async (number) => {
      const block = node.ledger().blocks[number]
      if (block) return block.hash
      throw new Error(`it has no block ${number}`)
    },
    pace: async () => paceOf(node.blocks()),
    setPace: async (pace) => node.setBlocks(modeOf(pace)),
    mine: (blocks, intervalS) => mineBlocks(node, blocks, intervalS),
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

const paceOf = (mode: BlockMode): BlockPace =>
  mode === 'by_hand' ? 'paused' : mode === 'each_transaction' ? mode : mode.everyMs / 1000

const modeOf = (pace: BlockPace): BlockMode =>
  pace === 'paused' ? 'by_hand' : pace === 'each_transaction' ? pace : { everyMs: pace * 1000 }

/** The time of a block is the clock's, or a microsecond after the block before. */
function clockOf(node: AptosNode): Pick<ChainControls, 'setTime' | 'freezeTime' | 'releaseTime'> {
  return {
    setTime: async (nowMs, isFrozen) =>
      node.setTime(isFrozen ? { heldMs: nowMs } : { aheadMs: nowMs - Date.now() }),
    freezeTime: async () => node.setTime({ heldMs: node.ledger().clock() }),
    releaseTime: async () => node.setTime({ aheadMs: node.ledger().clock() - Date.now() }),
  }
}

const blocksPerTurn = 50

async function mineBlocks(node: AptosNode, blocks: number, intervalS = 0): Promise<void> {
  for (let made = 0; made < blocks; made++) {
    if (made > 0 && intervalS > 0) leap(node, intervalS * 1000)
    node.mine()
    if (made % blocksPerTurn === blocksPerTurn - 1) await turn()
  }
}

/** Moves the time of the next block away from that of the newest one. */
function leap(node: AptosNode, byMs: number): void {
  const ledger = node.ledger()
  const atMs = Number(latestBlock(ledger).timestampUs / 1000n) + byMs
  node.setTime('heldMs' in ledger.time ? { heldMs: atMs } : { aheadMs: atMs - Date.now() })
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
