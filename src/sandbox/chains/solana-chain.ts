import type { Network } from '#chains/networks/index'
import { ApiError, invalid } from '#lib/errors'
import type { Log } from '#runtime/log/log'
import { pacedControls } from './ledger-controls.ts'
import { openLedgerJournal } from './ledger-journal.ts'
import type { ChainControls, LocalChain, StartedChain, TouchingTransaction } from './local-chain.ts'
import { SolanaRpcError } from './solana/errors.ts'
import { openSolanaNode, type SolanaNode } from './solana/index.ts'
import { headBlock } from './solana/ledger.ts'

type SolanaChainOptions = {
  network: Network
  blockTimeMs: number | undefined
  directory: string | undefined
  log: Log
}

/** Starts a local chain of Solana: its programs run on the virtual machine of the network, in this process. */
export async function startSolanaChain(options: SolanaChainOptions): Promise<StartedChain> {
  const { network, blockTimeMs, directory, log } = options
  const { blockchain, chainId } = network
  const node = await openSolanaNode({
    chainId,
    directory,
    clock: Date.now,
    blocks: blockTimeMs === undefined ? 'each_transaction' : { everyMs: blockTimeMs },
    // Where blocks follow transactions, no further ones would make one final.
    ...(blockTimeMs === undefined && { finalizedAfter: 0 }),
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
    isSimulated: false,
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

const controlsOf = (node: SolanaNode): ChainControls => ({
  ...pacedControls(node, () => headBlock(node.ledger()).timeS * 1000),
  head: async () => {
    const { height, hash, timeS } = headBlock(node.ledger())
    return { number: height, hash, timestampS: timeS }
  },
  hashAt: async (number) => {
    const block = node.ledger().blocks[number]
    if (block) return block.hash
    throw new Error(`it has no block ${number}`)
  },
  waiting: async () => node.pending().length,
  outcomeOf: async (txHash) => {
    const { bySignature, bySlot } = node.ledger()
    const found = bySignature.get(txHash)
    return (
      found && {
        blockNumber: bySlot.get(found.slot)!.height,
        isSuccess: found.outcome.error === undefined,
      }
    )
  },
  drop: async (txHash) => {
    if (node.pending().includes(txHash)) {
      node.forgetPending(txHash)
      return 'dropped'
    }
    const { bySignature, bySlot } = node.ledger()
    const found = bySignature.get(txHash)
    return found ? bySlot.get(found.slot)!.height : 'unknown'
  },
  transactionsIn: async (blockHash) => transactionsIn(node, blockHash),
  refillFaucet: async () => undefined,
  mint: async (to, amountAtomic, token) => mint(node, to, amountAtomic, token),
})

/** The accounts of a transaction, and the owners of those of tokens. */
const transactionsIn = (node: SolanaNode, blockHash: string): TouchingTransaction[] =>
  (node.ledger().byHash.get(blockHash)?.transactions ?? []).map(({ transaction, after }) => ({
    txHash: transaction.signature,
    addresses: [...new Set([...transaction.accounts, ...after.tokens.map(({ owner }) => owner)])],
  }))

const amountMax = 2n ** 64n - 1n

function mint(node: SolanaNode, to: string, amountAtomic: bigint, token: string | undefined): string {
  if (amountAtomic > amountMax)
    throw invalid({
      at: 'amount',
      reason: `must be at most ${amountMax} base units on this chain, whose amounts have 64 bits`,
      value: String(amountAtomic),
    })
  try {
    return node.fund(to, amountAtomic, token)
  } catch (error) {
    if (!(error instanceof SolanaRpcError)) throw error
    throw new ApiError(
      'unavailable',
      `The node did not take the payment (${error.message}): mine a block or resume the chain, and try again.`,
    )
  }
}
