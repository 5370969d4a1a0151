import {
  type HostedChainOptions,
  hashOfBlock,
  hostedChain,
  hostedNodeOptions,
  payNewCoins,
} from './hosted-chain.ts'
import { pacedControls } from './ledger-controls.ts'
import type { Branches, ChainControls, StartedChain, TouchingTransaction } from './local-chain.ts'
import { SolanaRpcError } from './solana/errors.ts'
import { openSolanaNode, type SolanaNode } from './solana/index.ts'
import { headBlock } from './solana/ledger.ts'

/** Starts a local chain of Solana: its programs run on the virtual machine of the network, in this process. */
export async function startSolanaChain(options: HostedChainOptions): Promise<StartedChain> {
  const node = await openSolanaNode({
    ...hostedNodeOptions(options),
    // Where blocks follow transactions, no further ones would make one final.
    ...(options.blockTimeMs === undefined && { finalizedAfter: 0 }),
  })
  return hostedChain(options, node, { controls: controlsOf(node), isSimulated: false })
}

/** The height of the block that has a transaction, and whether it succeeded there. */
function placeOf(node: SolanaNode, signature: string) {
  const { bySignature, bySlot } = node.ledger()
  const found = bySignature.get(signature)
  return (
    found && {
      blockNumber: bySlot.get(found.slot)!.height,
      isSuccess: found.outcome.error === undefined,
    }
  )
}

/**
 * Blocks that another branch takes back at most, fewer than those after which a transaction counts as dead: see `Lifetimes`. Blocks
 * that count as final here are among them, since a local chain may have one block for each transaction.
 */
const depthMax = 31

const branchesOf = (node: SolanaNode): Branches => ({
  fates: ['return', 'drop'],
  withoutMining: async (work) => {
    const mode = node.blocks()
    node.setBlocks('by_hand')
    try {
      return await work()
    } finally {
      node.setBlocks(mode)
    }
  },
  replaceable: (height) =>
    height > depthMax
      ? { blocks: depthMax, reason: 'fewer than make a block final: replace fewer' }
      : { blocks: height - 1, reason: 'as many blocks as it has after its first: mine more blocks first' },
  replace: async ({ depth, newBlocks, transactions }) => {
    const kept = node.ledger().blocks.at(-1 - depth)!
    const lost = node.fork(kept.slot, { returns: transactions === 'return', isForced: true })
    for (let made = 0; made < newBlocks; made++) node.mine({ isEmpty: true })
    const signatures = lost.flatMap((block) =>
      block.transactions.map(({ transaction }) => transaction.signature),
    )
    const [returned, dropped] = transactions === 'return' ? [signatures, []] : [[], signatures]
    return { orphaned: lost.map(({ hash }) => hash).reverse(), returned, replaced: [], dropped }
  },
})

const controlsOf = (node: SolanaNode): ChainControls => ({
  ...pacedControls(node, () => headBlock(node.ledger()).timeS * 1000),
  head: async () => {
    const { height, hash, timeS } = headBlock(node.ledger())
    return { number: height, hash, timestampS: timeS }
  },
  hashAt: async (number) => hashOfBlock(node.ledger().blocks, number),
  waiting: async () => node.pending().length,
  outcomeOf: async (txHash) => placeOf(node, txHash),
  drop: async (txHash) => {
    if (node.pending().includes(txHash)) {
      node.forgetPending(txHash)
      return 'dropped'
    }
    return placeOf(node, txHash)?.blockNumber ?? 'unknown'
  },
  transactionsIn: async (blockHash) => transactionsIn(node, blockHash),
  refillFaucet: async () => undefined,
  branches: branchesOf(node),
  mint: async (to, amountAtomic, token) =>
    payNewCoins(
      amountAtomic,
      () => node.fund(to, amountAtomic, token),
      (error) => error instanceof SolanaRpcError,
    ),
})

/** The accounts of a transaction, and the owners of those of tokens. */
const transactionsIn = (node: SolanaNode, blockHash: string): TouchingTransaction[] =>
  (node.ledger().byHash.get(blockHash)?.transactions ?? []).map(({ transaction, after }) => ({
    txHash: transaction.signature,
    addresses: [...new Set([...transaction.accounts, ...after.tokens.map(({ owner }) => owner)])],
  }))
