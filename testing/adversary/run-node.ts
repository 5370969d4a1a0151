import { startTestChains, type TestChain } from '#testing/platform/chain'
import { buyers } from './buyers.ts'
import { type RunAptosNode, startRunAptosNode } from './run-aptos-node.ts'
import { type RunSolanaNode, startRunSolanaNode } from './run-solana-node.ts'
import { blockchain, type SeededDatabase } from './seeded-database.ts'

/** The nodes of one run, with funded wallets. */
export type RunNode = {
  chain: TestChain
  aptos: RunAptosNode
  solana: RunSolanaNode
  /** Mines on a timer until the next call, or each transaction at once when undefined. */
  mineEvery(blockTimeMs: number | undefined): Promise<void>
  stop(): Promise<void>
}

const funds = { native: 100n * 10n ** 18n, usdc: 1_000n * 10n ** 6n }

/** Number of blocks above the funding, so that no reorg of a run reaches it. */
const blocksAbove = 4

/** Starts the nodes, funds the wallets on them, and makes no block of a transaction until requested. */
export async function startRunNode({ wallets }: SeededDatabase): Promise<RunNode> {
  const { chains, stop } = await startTestChains({ blockchains: [blockchain] })
  const [aptos, solana] = await Promise.all([startRunAptosNode(wallets), startRunSolanaNode(wallets)])
  const chain = chains[0]!
  let timer: NodeJS.Timeout | undefined
  const mineEvery = async (blockTimeMs: number | undefined) => {
    clearInterval(timer)
    for (const node of [aptos, solana]) node.mineEvery(blockTimeMs)
    await chain.setAutomine(blockTimeMs === undefined)
    if (blockTimeMs === undefined) return
    let isMining = false
    timer = setInterval(() => {
      if (isMining) return
      isMining = true
      chain
        .rpc('evm_mine')
        .catch(() => undefined)
        .finally(() => {
          isMining = false
        })
    }, blockTimeMs)
  }
  // The first also mints the tokens that all are paid from; the others fit into one block, which is less to follow.
  const funded = wallets.filter((wallet) => wallet.blockchain === blockchain)
  for (const [index, { address }] of funded.entries()) {
    await chain.send(address, funds.usdc, 'USDC')
    if (index === 0) await chain.setAutomine(false)
    await chain.send(address, funds.native)
  }
  for (const { address } of buyers) await chain.send(address, funds.usdc, 'USDC')
  await chain.mine(blocksAbove)
  return {
    chain,
    aptos,
    solana,
    mineEvery,
    stop: async () => {
      clearInterval(timer)
      await stop()
      await Promise.all([aptos.close(), solana.close()])
    },
  }
}
