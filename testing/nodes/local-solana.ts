import { solDevnet } from '#chains/networks/sol-devnet'
import { openSolanaNode } from '#sandbox/chains/solana/index'

/** Opens a local network that keeps nothing, and the input of a harness or a worker that connects to it. */
export async function openLocalSolana(clock: () => number = Date.now) {
  const { chainId, blockchain } = solDevnet
  const node = await openSolanaNode({ chainId, directory: undefined, clock })
  return { node, connected: { blockchain, rpcUrl: node.url, local: true } }
}
