import { tokenAddress } from '#chains/network'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import type { Hex } from '#lib/hex'
import { type AptosNode, openAptosNode } from '#sandbox/chains/aptos/index'
import type { ExpiringNodeFault } from './schedule.ts'
import type { PlannedWallet } from './seeded-database.ts'

/** The simulated node of one run, with a clock that only goes forward. */
export type RunAptosNode = {
  node: AptosNode
  headHash(): Promise<string>
  /** Makes blocks on a timer until the next call, or one for each transaction when undefined. */
  mineEvery(blockTimeMs: number | undefined): void
  fail(fault: ExpiringNodeFault, forMs: number): void
  /** Moves the clock of the chain forward, and makes a block then. */
  pass(byMs: number): void
  /** Ends all faults. */
  settle(): void
  close(): Promise<void>
}

const funds = { native: 100n * 10n ** 8n, usdc: 1_000n * 10n ** 6n }

export async function startRunAptosNode(wallets: readonly PlannedWallet[]): Promise<RunAptosNode> {
  const { chainId, blockchain, tokens } = aptosTestnet
  let leadMs = 0
  const node = await openAptosNode({
    chainId,
    directory: undefined,
    clock: () => Date.now() + leadMs,
  })
  for (const { address } of wallets.filter((wallet) => wallet.blockchain === blockchain)) {
    node.fund(address as Hex, funds.native)
    node.fund(address as Hex, funds.usdc, tokenAddress(tokens[0]!) as Hex)
  }
  const timers = new Set<NodeJS.Timeout>()
  const settle = () => node.setFaults({})
  const read = async (path: string) =>
    (await (await fetch(node.url + path)).json()) as { block_height: string; block_hash: string }
  return {
    node,
    headHash: async () => (await read(`/blocks/by_height/${(await read('')).block_height}`)).block_hash,
    mineEvery: (everyMs) => node.setBlocks(everyMs === undefined ? 'each_transaction' : { everyMs }),
    fail: (fault, forMs) => {
      if (fault === 'pool-forgotten') return node.forgetPool()
      node.setFaults(fault === 'answers-lost' ? { dropsAnswers: 'submissions' } : { losesTransactions: true })
      timers.add(setTimeout(settle, forMs))
    },
    pass: (byMs) => {
      leadMs += byMs
      node.mine()
    },
    settle,
    close: async () => {
      for (const timer of timers) clearTimeout(timer)
      await node.close()
    },
  }
}
