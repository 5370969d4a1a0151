import { tokenAddress } from '#chains/network'
import { solDevnet } from '#chains/networks/sol-devnet'
import type { SolanaNode } from '#sandbox/chains/solana/index'
import { headBlock } from '#sandbox/chains/solana/ledger'
import { openLocalSolana } from '#testing/nodes/local-solana'
import type { ExpiringNodeFault } from './schedule.ts'
import type { PlannedWallet } from './seeded-database.ts'

/** The local network of Solana of one run, of whose slots three in ten have no block. */
export type RunSolanaNode = {
  node: SolanaNode
  headHash(): string
  /** Makes blocks on a timer until the next call, or one for each transaction when undefined. */
  mineEvery(blockTimeMs: number | undefined): void
  fail(fault: ExpiringNodeFault, forMs: number): void
  /** Puts others in the place of the newest blocks: their transactions wait for these. */
  fork(blocks: number): void
  /** Makes blocks of what waits. */
  pass(blocks: number): void
  /** Ends all faults. */
  settle(): void
  close(): Promise<void>
}

const funds = { native: 100n * 10n ** 9n, usdc: 1_000n * 10n ** 6n }
const skippedPercent = 30

/** Blocks above the funding, so that no fork of a run reaches it. */
const blocksAbove = 4

export async function startRunSolanaNode(wallets: readonly PlannedWallet[]): Promise<RunSolanaNode> {
  const { blockchain, tokens } = solDevnet
  const { node } = await openLocalSolana()
  node.setSkips(skippedPercent)
  for (const { address } of wallets.filter((wallet) => wallet.blockchain === blockchain)) {
    node.fund(address, funds.native)
    node.fund(address, funds.usdc, tokenAddress(tokens[0]!))
  }
  const pass = (blocks: number) => {
    for (let block = 0; block < blocks; block++) node.mine()
  }
  pass(blocksAbove)
  const timers = new Set<NodeJS.Timeout>()
  const settle = () => node.setFaults({})
  return {
    node,
    headHash: () => headBlock(node.ledger()).hash,
    mineEvery: (everyMs) => node.setBlocks(everyMs === undefined ? 'each_transaction' : { everyMs }),
    fail: (fault, forMs) => {
      if (fault === 'pool-forgotten') return node.forgetPending()
      node.setFaults(fault === 'answers-lost' ? { dropsAnswers: 'submissions' } : { losesTransactions: true })
      timers.add(setTimeout(settle, forMs))
    },
    fork: (blocks) => {
      const { blocks: chain } = node.ledger()
      node.fork(chain.at(-1 - blocks)!.slot)
      pass(blocks)
    },
    pass,
    settle,
    close: async () => {
      for (const timer of timers) clearTimeout(timer)
      await node.close()
    },
  }
}
